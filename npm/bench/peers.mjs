// What a URL costs in Node, beside Node's own URL, normalize-url and fast-uri: `scripts/bench-npm`.
//
// Each of the rounds runs all of them in turn, so that a slow moment of the machine is no one's. The median of the
// ratios of a round is what is told, with the lowest and the highest.

import { readFileSync } from 'node:fs'
import { argv } from 'node:process'
import fastUri from 'fast-uri'
import normalizeUrl from 'normalize-url'
import { normalize, normalizeBatch, UrlSet } from '../dist/node.js'

const [, , file, rounds = '9', most = '200000'] = argv
const lines = readFileSync(file)
const urls = lines.toString('latin1').split('\n').filter(Boolean).slice(0, Number(most))
const list = Buffer.from(urls.join('\n'))

/** The sum of the lengths, so that no result can be left out; what throws counts as none. */
const each = (f) => () => {
  let sum = 0
  for (const url of urls) {
    try {
      sum += f(url)
    } catch {}
  }
  return sum
}

const ways = {
  'new URL(url).href': each((url) => new URL(url).href.length),
  'normalize(url)': each((url) => normalize(url).value?.length ?? 0),
  'normalize(url, "whatwg")': each((url) => normalize(url, 'whatwg').value?.length ?? 0),
  'normalizeBatch(lines)': () => normalizeBatch(list).values.length,
  'normalizeBatch, then strings': () => {
    const { values, offsets } = normalizeBatch(list)
    const all = Buffer.from(values.buffer, values.byteOffset, values.length).latin1Slice()
    let sum = 0
    for (let i = 0; i + 1 < offsets.length; i++) sum += all.slice(offsets[i], offsets[i + 1]).length
    return sum
  },
  'new Set of new URL(url).href': () => {
    const set = new Set()
    for (const url of urls) if (URL.canParse(url)) set.add(new URL(url).href)
    return set.size
  },
  'UrlSet.add(url)': () => {
    const set = new UrlSet()
    for (const url of urls) set.add(url)
    const { size } = set
    set.free()
    return size
  },
  'UrlSet.addBatch(lines)': () => {
    const set = new UrlSet()
    set.addBatch(list)
    const { size } = set
    set.free()
    return size
  },
  'fastUri.normalize(url)': each((url) => fastUri.normalize(url).length),
  'normalizeUrl(url)': each((url) => normalizeUrl(url).length),
}

const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
for (let round = 0; round <= Number(rounds); round++) {
  for (const [name, work] of Object.entries(ways)) {
    const start = performance.now()
    if (!(work() > 0)) throw new Error(`${name} gave nothing`)
    // In the first round the engine compiles.
    if (round > 0) times[name].push(performance.now() - start)
  }
}

const middle = (numbers) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]
const [, base] = Object.entries(times)[0]
console.log(
  `Node ${process.version}, ${urls.length} URLs of ${Math.round(list.length / urls.length)} bytes, ${rounds} rounds`,
)
console.log(`${''.padEnd(30)}  ns a URL   times as fast as new URL(url).href`)
for (const [name, all] of Object.entries(times)) {
  const ratios = all.map((time, i) => base[i] / time)
  const [low, mid, high] = [Math.min(...ratios), middle(ratios), Math.max(...ratios)].map((ratio) => ratio.toFixed(2))
  console.log(
    `${name.padEnd(30)}  ${((middle(all) * 1e6) / urls.length).toFixed(0).padStart(8)}   ${mid} (${low} to ${high})`,
  )
}
