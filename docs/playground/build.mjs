// Makes the playground one file: `scripts/playground` runs it.

import { readFileSync, writeFileSync } from 'node:fs'
import { argv } from 'node:process'
import { gzipSync } from 'node:zlib'
import { createRequire } from 'node:module'

const here = new URL('.', import.meta.url)
const { buildSync } = createRequire(new URL('../../npm/package.json', here))('esbuild')

const module = gzipSync(readFileSync(new URL('../../npm/dist/wasm_bg.wasm', here)), { level: 9 }).toString('base64')
const [script] = buildSync({
  entryPoints: [new URL('page.ts', here).pathname],
  bundle: true,
  minify: true,
  write: false,
  target: 'es2022',
  format: 'iife',
  define: { MODULE: JSON.stringify(module), 'import.meta.url': '""' },
}).outputFiles
const read = (name) => readFileSync(new URL(name, here), 'utf8')
// Functions, since `$` in a text that replaces another has a meaning.
const page = read('page.html')
  .replace('/* page.css */', () => read('page.css'))
  .replace('/* page.js */', () => script.text.replaceAll('</script', '<\\/script'))
writeFileSync(argv[2], page)
