// What the rules say of one URL, or of two.

import { names } from './wasm.js'
import { buffers, read, write } from './module.js'
import { type Code, codes, type Key, keys, type Profile, profiles } from './names.js'
import { rulesOf } from './rules.js'
import type { Comparison, Explanation, Reject, Result, Rules, Step } from './types.js'

/**
 * The canonical form of a URL.
 *
 * ```js
 * normalize('HTTP://Example.COM:80/%7Ea#top') // { value: 'http://example.com/~a', reject: null }
 * normalize('http://example.com:99999/').reject.code // 'port-range'
 * ```
 *
 * The canonical form of a canonical form is itself. Time is linear in the length of the URL, but for the sorting
 * of parameters.
 */
export function normalize(url: string, rules?: Rules): Result {
  const native = rulesOf(rules)
  return result(native.normalize(buffers, write(url)), url)
}

/**
 * A key of a URL: the sort key of web archives (`surt`), the same without a loss (`ssurt`), a short `hash`, its
 * `template`, such as `https://h/user/{int}?page`, its `host`, or the `domain` that somebody registered.
 *
 * ```js
 * key('http://www.Example.com/A', 'surt', 'ia').value // 'com,example)/a'
 * ```
 */
export function key(url: string, key: Key, rules?: Rules): Result {
  const native = rulesOf(rules)
  const place = keys.indexOf(key)
  if (place < 0) throw new TypeError(`unknown key \`${key}\` (expected ${keys.join(', ')})`)
  return result(native.key(buffers, write(url), place), url)
}

/** The effect of each rule on a URL, in order. For people: it takes many times as long as `normalize`. */
export function explain(url: string, rules?: Rules): Explanation {
  const found = normalize(url, rules)
  const steps: Step[] = []
  const texts = found.value === null ? [] : rulesOf(rules).explain(url)
  while (texts.length > 0) {
    const [rule, sentence, source, before, after, marks] = texts.splice(0, 6) as [
      string,
      string,
      string,
      string,
      string,
      string,
    ]
    const [removed, added] = marks.split('|').map(ranges) as [[number, number][], [number, number][]]
    steps.push({ rule, sentence, source: source || null, before, after, removed, added })
  }
  return { ...found, steps }
}

function ranges(marks: string): [number, number][] {
  const pairs = marks === '' ? [] : marks.split(' ')
  return pairs.map((pair) => pair.split(',').map(Number) as [number, number])
}

/** The first profile of the ladder, from `string` to `aggressive`, under which two URLs are the same. */
export function compare(a: string, b: string): Comparison {
  const ladder = profiles.slice(0, 1 + profiles.indexOf('aggressive'))
  const rungs = ladder.map((profile) => ({ profile, a: normalize(a, profile), b: normalize(b, profile) }))
  const joins = rungs.find((rung) => rung.a.value !== null && rung.a.value === rung.b.value)
  return { rung: joins?.profile ?? null, rungs }
}

/**
 * The result that a number of the module stands for: the length of the output, -1 for none, -2 for
 * the URL itself.
 * @internal
 */
export function result(number: number, url: string): Result {
  if (number === -2) return { value: url, reject: null }
  if (number >= 0) return { value: read(number), reject: null }
  return { value: null, reject: reject() }
}

const messages = new Map<string, string>()

function reject(): Reject {
  if (messages.size === 0) {
    const all = names('code')
    for (let i = 0; i < all.length; i += 2) messages.set(all[i]!, all[i + 1]!)
  }
  const found = Array.from(buffers.codes(), (place) => codes[place]!) as [Code, ...Code[]]
  return { code: found[0], codes: found, at: buffers.at(), message: messages.get(found[0])! }
}

/** What each profile, switch, key or code is, in a few words. */
export function summary(kind: 'profile' | 'switch' | 'key' | 'code', name: Profile | string): string | undefined {
  const all = names(kind)
  return all[all.indexOf(name) + 1]
}
