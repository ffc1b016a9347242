// A list becomes a set: counts, the first lines with what became of them, and the distinct URLs to save.

import { codes, type Rules, UrlSet } from '../../npm/dist/index.js'

/** A line of the list. */
export interface Line {
  text: string
  /** The canonical form, or `null` for a rejected line. */
  value: string | null
  /** The code of a rejected line. */
  code: string | null
  /** For a duplicate the number of the line that was first, else 0. */
  first: number
}

/** What became of a list. */
export interface Outcome {
  lines: number
  blank: number
  rejected: number
  distinct: number
  /** Milliseconds that the rules and the set took: neither reading the file nor showing the lines. */
  time: number
  /** The first lines. */
  shown: Line[]
  /** The distinct URLs in the order of the list, a line each. */
  saved: Blob[]
}

/** Lines that can be shown. Nobody reads more of them, and each takes memory. */
export const MOST = 5000

// A byte-order mark at the start of a URL belongs to it.
const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

/**
 * Goes through a list, part by part: a page that did not let go in between would seem dead. `goes` is asked after each
 * part, with the bytes so far, and says whether to go on.
 */
export async function read(
  parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  rules: Rules,
  goes: (bytes: number) => boolean,
): Promise<Outcome | null> {
  const outcome: Outcome = { lines: 0, blank: 0, rejected: 0, distinct: 0, time: 0, shown: [], saved: [] }
  const set = new UrlSet(rules)
  const firsts = new Map<string, number>()
  let bytes = 0
  try {
    for await (const part of whole(parts)) {
      const start = performance.now()
      const batch = set.addBatch(part)
      outcome.time += performance.now() - start
      take(outcome, part, batch, firsts)
      bytes += part.length
      if (!goes(bytes)) return null
    }
    outcome.distinct = set.size
    return outcome
  } finally {
    set.free()
  }
}

/** The same bytes in parts that end with a line. */
async function* whole(parts: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let rest: Uint8Array[] = []
  for await (const part of parts) {
    const feed = part.lastIndexOf(10)
    rest.push(part.subarray(0, feed + 1))
    if (feed < 0) {
      rest[rest.length - 1] = part
      continue
    }
    yield await joined(rest)
    rest = [part.subarray(feed + 1)]
  }
  const last = await joined(rest)
  if (last.length > 0) yield last
}

async function joined(parts: Uint8Array[]): Promise<Uint8Array> {
  return parts.length === 1 ? parts[0]! : new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer())
}

function take(
  outcome: Outcome,
  part: Uint8Array,
  batch: ReturnType<UrlSet['addBatch']>,
  firsts: Map<string, number>,
): void {
  const { values, offsets, rejects, isNew } = batch
  const value = (i: number) => values.subarray(offsets[i], offsets[i + 1])
  const saved = new Uint8Array(values.length + rejects.length)
  let [at, line] = [0, 0]
  for (let i = 0; i < rejects.length; i++) {
    const code = rejects[i] ? codes[rejects[i]! - 1]! : null
    if (isNew[i]) {
      saved.set(value(i), line)
      line += offsets[i + 1]! - offsets[i]!
      saved[line++] = 10
    }
    outcome.blank += Number(code === 'empty')
    outcome.rejected += Number(code !== null && code !== 'empty')
    if (outcome.shown.length < MOST) {
      const end = part.indexOf(10, at)
      const text = decoder.decode(part.subarray(at, end < 0 ? part.length : end)).replace(/\r$/, '')
      at = end + 1
      const form = code === null ? decoder.decode(value(i)) : null
      const number = outcome.lines + i + 1
      const first = form === null ? number : (firsts.get(form) ?? number)
      if (form !== null) firsts.set(form, first)
      outcome.shown.push({ text, value: form, code, first: first === number ? 0 : first })
    }
  }
  outcome.lines += rejects.length
  outcome.saved.push(new Blob([saved.subarray(0, line)]))
}
