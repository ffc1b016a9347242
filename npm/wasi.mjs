// Runs tests that were compiled for wasm32-wasip1, as cargo's runner: `node npm/wasi.mjs TESTS.wasm [ARGUMENT...]`.
import { readFileSync } from 'node:fs'
import { argv, env } from 'node:process'
import { WASI } from 'node:wasi'

// Only absolute names of files lead anywhere: WASI's C library takes `.` and `/` for the same directory.
const wasi = new WASI({ version: 'preview1', args: argv.slice(2), env, preopens: { '/': '/' }, returnOnExit: true })
const tests = new WebAssembly.Module(readFileSync(argv[2]))
// Node's functions of WASI do not keep their object alive, and abort once it is collected.
globalThis.wasi = wasi
process.exit(wasi.start(new WebAssembly.Instance(tests, wasi.getImportObject())))
