// The package in browsers, and for bundlers: the module is fetched beside this file before anything else runs.

import init from './wasm.js'
import { start } from './module.js'

start(await init())

export * from './index.js'
