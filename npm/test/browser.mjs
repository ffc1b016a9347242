// The package in a browser, served as files: `scripts/check-page` runs it.
//
//   node npm/test/browser.mjs CHROMIUM

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { argv } from 'node:process'
import { chromium } from 'playwright-core'

const types = { js: 'text/javascript', wasm: 'application/wasm' }
const server = createServer(({ url }, answer) => {
  const type = types[url.split('.').at(-1)]
  if (!type) return answer.setHeader('Content-Type', 'text/html').end('<!doctype html>')
  answer.setHeader('Content-Type', type).end(readFileSync(new URL(`../dist${url}`, import.meta.url)))
})
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))

const browser = await chromium.launch({
  executablePath: argv[2],
  args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
})
const tab = await browser.newPage()
await tab.goto(`http://127.0.0.1:${server.address().port}/`)
const found = await tab.evaluate(async () => {
  const { normalize, normalizeBatch, UrlSet } = await import('/browser.js')
  const set = new UrlSet()
  set.addBatch('http://h/a\nHTTP://H/%61\n')
  return [normalize('HTTP://É.example:80').value, normalizeBatch('http://h/\nx\n').rejects.length, set.size]
})
assert.deepEqual(found, ['http://xn--9ca.example/', 2, 1])
console.log('ok: the package works in a browser')
await browser.close()
server.close()
