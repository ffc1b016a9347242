// Many URLs at once, which is how they are fastest.

import { Batch as Native } from './wasm.js'
import { utf8, view } from './module.js'
import { rulesOf } from './rules.js'
import type { Batch, Rules, SetBatch } from './types.js'

/** Bytes of a list that are copied into the module at once: that piece stays in the cache. */
const PIECE = 1 << 19

/**
 * The canonical form of each line of a list, in order. A line ends with LF or CRLF; a blank line is rejected as
 * `empty`, and so is counted.
 *
 * ```js
 * const { values, offsets, rejects } = normalizeBatch(await readFile('urls.txt'))
 * const first = values.subarray(offsets[0], offsets[1])
 * ```
 *
 * It throws a `RangeError` if the canonical URLs have 4 GiB together: pass such lists in parts.
 */
export function normalizeBatch(lines: Uint8Array | string, rules?: Rules): Batch {
  const native = rulesOf(rules)
  const { values, offsets, rejects } = read(lines, (piece, batch) => native.batch(piece, batch))
  return { values, offsets, rejects }
}

/** What `ask` makes of each piece of a list, as one batch. @internal */
export function read(lines: Uint8Array | string, ask: (piece: Uint8Array, batch: Native) => void): SetBatch {
  const list = utf8(lines)
  const batch = new Native()
  // Canonical URLs are seldom longer than others, and without line ends.
  let values = new Uint8Array(list.length)
  let bytes = 0
  const parts: { ends: Uint32Array; rejects: Uint8Array; isNew: Uint8Array }[] = []
  for (let start = 0; start < list.length;) {
    const feed = list.indexOf(10, start + PIECE - 1)
    const end = feed < 0 ? list.length : feed + 1
    ask(list.subarray(start, end), batch)
    start = end
    const size = bytes + batch.size()
    if (size > values.length) values = grown(values, size)
    values.set(view(batch.values(), batch.size()), bytes)
    parts.push({ ends: batch.ends(), rejects: batch.rejects(), isNew: batch.added() })
    bytes = size
  }
  batch.free()
  const join = <T extends Uint8Array | Uint32Array>(all: T, part: (part: (typeof parts)[0]) => T, at: number): T => {
    for (const one of parts) {
      all.set(part(one), at)
      at += part(one).length
    }
    return all
  }
  const rows = parts.reduce((sum, part) => sum + part.rejects.length, 0)
  return {
    values: values.subarray(0, bytes),
    offsets: join(new Uint32Array(rows + 1), (part) => part.ends, 1),
    rejects: join(new Uint8Array(rows), (part) => part.rejects, 0),
    isNew: join(new Uint8Array(rows), (part) => part.isNew, 0),
  }
}

function grown(values: Uint8Array<ArrayBuffer>, size: number): Uint8Array<ArrayBuffer> {
  if (size >= 2 ** 32) throw new RangeError('the canonical URLs have 4 GiB or more')
  const more = new Uint8Array(Math.max(size, Math.min(2 * values.length, 2 ** 32 - 1)))
  more.set(values)
  return more
}
