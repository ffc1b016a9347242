// The package as its users call it.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import * as uniqurl from '../dist/node.js'
import { names } from '../dist/wasm.js'

const { codes, compare, explain, key, keys, normalize, normalizeBatch, profiles, summary, switches, UrlSet } = uniqurl

test('names are those of the library, in its order', () => {
  for (const [kind, list] of Object.entries({ profile: profiles, switch: switches, key: keys, code: codes })) {
    const known = names(kind)
    assert.deepEqual(
      [...list],
      known.filter((_, i) => i % 2 === 0),
    )
    for (const name of list) assert.equal(summary(kind, name), known[known.indexOf(name) + 1])
  }
})

test('a URL has a canonical form, or a reason why it has none', () => {
  assert.deepEqual(normalize('HTTP://Example.COM:80/%7Ea#top'), { value: 'http://example.com/~a', reject: null })
  const reject = { code: 'port-range', codes: ['port-range'], at: 19, message: 'a port above 65535' }
  assert.deepEqual(normalize('http://example.com:99999/'), { value: null, reject })
  assert.deepEqual(normalize('').reject.codes, ['empty'])
  assert.deepEqual(normalize('/a%2Fb\\c', 'servlet').reject.codes, ['encoded-slash', 'backslash'])
})

test('places are indexes of the string', () => {
  for (const host of ['h', 'é', '😀', 'é😀h']) {
    const url = `http://${host}:99999/`
    const { at } = normalize(url).reject
    assert.equal(url.slice(at), '99999/')
    const [step] = explain(`http://h/${host}/%7e`).steps.filter(({ rule }) => rule === 'decode-unreserved')
    assert.deepEqual(
      step.removed.map(([from, to]) => step.before.slice(from, to)),
      ['%7e'],
    )
    assert.deepEqual(
      step.added.map(([from, to]) => step.after.slice(from, to)),
      ['~'],
    )
  }
})

test('a surrogate without its pair is U+FFFD, as in the URL Standard', () => {
  for (const url of ['http://h/\ud800', 'http://h/\udc00x', 'http://h/é\ud83d']) {
    assert.equal(normalize(url, 'whatwg').value, new URL(url).href)
  }
})

test('a URL of any length passes, and the buffers grow with it', () => {
  for (const length of [0, 1, 127, 128, 129, 70_000, 5_000_000]) {
    const url = `http://h/${'a'.repeat(length)}`
    assert.equal(normalize(url).value, url)
    assert.equal(normalize(`HTTP://h/${'é'.repeat(length)}`).value, `http://h/${'%C3%A9'.repeat(length)}`)
  }
})

test('options are those of the command', () => {
  const url = 'http://www.h/a/?b=1&a=2&utm_source=x&id=3#f'
  const rules = { with: ['sort-query', 'strip-tracking'], dropParams: ['i*'] }
  assert.equal(normalize(url, rules).value, 'http://www.h/a/?a=2&b=1')
  assert.equal(normalize(url, { profile: 'aggressive', without: ['strip-www'] }).value, 'http://www.h/a?a=2&b=1&id=3')
  assert.equal(normalize(url, { keepParams: ['id', 'x'] }).value, 'http://www.h/a/?id=3')
  assert.equal(normalize('../c', { base: 'http://h/a/b' }).value, 'http://h/c')
  assert.equal(normalize('h.example/a', { assumeScheme: 'https' }).value, 'https://h.example/a')
  assert.equal(
    normalize('/a%2Fb\\c', { profile: 'servlet', allow: ['encoded-slash', 'backslash'] }).value,
    '/a%2Fb%5Cc',
  )
  assert.equal(normalize('/a%2Fb!', { profile: 'ring', ring: 'decode=2F encode=21' }).value, '/a/b%21')
  const profileFile = 'name = "shop"\nversion = 1\nbase = "crawl"\n[switches]\nstrip-trailing-slash = true'
  assert.equal(normalize('http://h/a/', { profileFile }).value, 'http://h/a')
  const shop = uniqurl.prepare({ profileFile })
  for (const url of ['http://h/a/', 'HTTP://h/a']) assert.equal(normalize(url, shop).value, 'http://h/a')
  assert.equal(new UrlSet(shop).add('http://h/b/').value, 'http://h/b')
  assert.equal(normalize(url, { profile: undefined, with: undefined }).value, normalize(url).value)
  assert.equal(normalize(url, 'crawl@1').value, normalize(url).value)
})

test('a wrong option is an error of the program, with what may be meant', () => {
  const throws = (rules, message) => assert.throws(() => normalize('http://h/', rules), { name: 'TypeError', message })
  throws('crwl', /unknown profile `crwl` \(did you mean `crawl`\?\)/)
  throws('crawl@9', /crawl/)
  throws({ with: ['sort-quary'] }, /did you mean `sort-query`/)
  throws({ wiht: ['sort-query'] }, /unknown option `wiht`/)
  throws({ profile: 'string', with: ['sort-query'] }, /has no switch sort-query/)
  throws({ base: 'nothing' }, /relative/)
  throws({ profile: 'crawl', profileFile: '' }, /names its profile itself/)
  throws({ profileFile: 'name = 1' }, /line 1/)
  assert.throws(() => key('http://h/', 'md5'), { name: 'TypeError', message: /unknown key `md5`/ })
})

test('rules that were asked for long ago still hold', () => {
  const set = new UrlSet({ dropParams: ['p0'] })
  for (let i = 0; i < 200; i++) {
    const url = `http://h/?p${i}=1&q=1`
    assert.equal(normalize(url, { dropParams: [`p${i}`] }).value, 'http://h/?q=1')
  }
  assert.equal(set.add('http://h/?p0=1&q=1').value, 'http://h/?q=1')
})

test('an explanation goes from the URL to its canonical form', () => {
  const { value, steps } = explain('HTTP://example.com:80/%7Ea', 'scheme')
  assert.deepEqual(
    steps.map(({ rule }) => rule),
    ['decode-unreserved', 'scheme-case', 'default-port'],
  )
  assert.equal(steps[0].source, 'RFC 3986 section 6.2.2.2')
  assert.equal(steps.at(-1).after, value)
  assert.deepEqual(explain('http://example.com/').steps, [])
  assert.deepEqual(explain('http://h:x/'), { ...normalize('http://h:x/'), steps: [] })
})

test('two URLs are compared on each rung', () => {
  const rung = (a, b) => compare(a, b).rung
  assert.equal(rung('http://h/', 'http://h/'), 'string')
  assert.equal(rung('http://h/%7e', 'http://h/~'), 'syntax')
  assert.equal(rung('http://h', 'http://h:80/'), 'scheme')
  assert.equal(rung('http://h/#a', 'http://h/#b'), 'crawl')
  assert.equal(rung('http://www.h.example/', 'http://h.example/index.html'), 'aggressive')
  assert.equal(rung('http://a/', 'http://b/'), null)
  assert.equal(rung('http://h:x/', 'http://h:y/'), null)
  assert.deepEqual(
    compare('http://h/', 'http://h').rungs.map(({ profile }) => profile),
    profiles.slice(0, 5),
  )
})

test('keys are those of the command', () => {
  const url = 'http://www.Example.co.uk:80/a/2024/02/29?id=7'
  const found = Object.fromEntries(keys.map((name) => [name, key(url, name).value]))
  assert.deepEqual(found, {
    url: 'http://www.example.co.uk/a/2024/02/29?id=7',
    template: 'http://www.example.co.uk/a/{date}?id',
    host: 'www.example.co.uk',
    domain: 'example.co.uk',
    'domain-icann': 'example.co.uk',
    surt: 'uk,co,example,www)/a/2024/02/29?id=7',
    ssurt: 'uk,co,example,www,//80:http@/a/2024/02/29?id=7',
    hash: found.hash,
  })
  assert.match(found.hash, /^[0-9a-f]{32}$/)
  assert.equal(key('mailto:a@b', 'host').reject.code, 'no-host')
})

test('a list gives a value or a code for each line', () => {
  const list = 'http://a.com/b\r\nHTTP://A.com/%62\n\nhttp://c.com:x/\nhttp://é/'
  const { values, offsets, rejects } = normalizeBatch(list)
  const text = Array.from(rejects, (_, i) => Buffer.from(values.subarray(offsets[i], offsets[i + 1])).toString())
  assert.deepEqual(text, ['http://a.com/b', 'http://a.com/b', '', '', 'http://xn--9ca/'])
  assert.deepEqual(
    Array.from(rejects, (code) => code && codes[code - 1]),
    [0, 0, 'empty', 'port', 0],
  )
  assert.deepEqual(normalizeBatch(Buffer.from(list)), { values, offsets, rejects })
  const none = { values: new Uint8Array(), offsets: new Uint32Array(1), rejects: new Uint8Array() }
  assert.deepEqual(normalizeBatch(''), none)
})

test('a list of many pieces is one batch, also where values are longer than lines', () => {
  const lines = Array.from({ length: 60_000 }, (_, i) => `http://h${i}.example/${i % 3 ? 'a' : 'é'.repeat(20)}`)
  lines[700] = `http://h/${'b'.repeat(3_000_000)}`
  const { values, offsets, rejects } = normalizeBatch(lines.join('\n'))
  assert.deepEqual([offsets.length, rejects.length], [lines.length + 1, lines.length])
  for (const i of [0, 1, 699, 700, 701, 30_000, 59_999]) {
    assert.equal(Buffer.from(values.subarray(offsets[i], offsets[i + 1])).toString(), normalize(lines[i]).value)
  }
})

test('a set holds each URL once', () => {
  const set = new UrlSet()
  assert.deepEqual(set.add('http://h/a'), { value: 'http://h/a', reject: null, isNew: true })
  assert.equal(set.add('HTTP://H:80/%61').isNew, false)
  assert.deepEqual(set.add('a'), { ...normalize('a'), isNew: false })
  assert.deepEqual([...set.addBatch('http://h/b\nhttp://h/a\nb\nhttp://h/é').isNew], [1, 0, 0, 1])
  assert.deepEqual([...set].sort(), ['http://h/%C3%A9', 'http://h/a', 'http://h/b'])
  assert.deepEqual([set.size, set.has('HTTP://h/b#x'), set.has('http://h/c'), set.has('a')], [3, true, false, false])
  const other = new UrlSet('scheme')
  assert.deepEqual([other.add('http://h/a#x').isNew, other.size, set.size], [true, 1, 3])
  set.free()
})

test('the examples of README.md run', async () => {
  const text = readFileSync(new URL('../README.md', import.meta.url), 'utf8')
  const examples = [...text.matchAll(/```js\n([^]*?)```/g)].map(([, code]) => code)
  assert.ok(text.split('// →').length > 10)
  for (const example of examples) {
    const code = example.replace(/^import .*$/gm, '').replace(/(.+?) +\/\/ → (.*)$/gm, 'assert.deepEqual($1, $2)')
    await new Function('assert', ...Object.keys(uniqurl), `return (async () => { ${code} })()`)(
      assert,
      ...Object.values(uniqurl),
    )
  }
})
