// The package in Node: the module is read before anything else runs.

import { readFileSync } from 'node:fs'
import { initSync } from './wasm.js'
import { start } from './module.js'

start(initSync({ module: readFileSync(new URL('./wasm_bg.wasm', import.meta.url)) }))

export * from './index.js'
