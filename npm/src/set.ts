// The exact set of canonical URLs.

import { Set as Native } from './wasm.js'
import { read } from './batch.js'
import { buffers, text, view, write } from './module.js'
import { rulesOf } from './rules.js'
import type { Result, Rules, SetBatch } from './types.js'
import { result } from './url.js'

/**
 * An exact set of URLs that are the same under some rules. It takes about `length + 17` bytes for each URL, outside
 * of JavaScript's heap, and up to 4 GiB in all. The URLs of a set that is full stay in it.
 *
 * ```js
 * const set = new UrlSet()
 * set.add('http://example.com/a').isNew // true
 * set.add('HTTP://Example.com:80/%61').isNew // false
 * ```
 */
export class UrlSet implements Iterable<string> {
  readonly #native: Native

  /** An empty set. */
  constructor(rules?: Rules) {
    const [seed] = crypto.getRandomValues(new BigUint64Array(1))
    this.#native = new Native(rulesOf(rules), seed!)
  }

  /** Adds a URL. A rejected one is not added. It throws an `Error` if the memory is full. */
  add(url: string): Result & { isNew: boolean } {
    const { value, reject } = result(this.#native.add(buffers, write(url)), url)
    return value === null ? { value, reject, isNew: false } : { value, reject: null, isNew: this.#native.isNew() }
  }

  /**
   * Adds each line of a list: see `normalizeBatch`. `isNew` is 1 for each line whose URL the set did not hold
   * before. If the memory is full it throws an `Error`; the lines before that were added.
   */
  addBatch(lines: Uint8Array | string): SetBatch {
    return read(lines, (piece, batch) => this.#native.addBatch(piece, batch))
  }

  /** Whether the set holds a URL. It holds no rejected one. */
  has(url: string): boolean {
    return this.#native.has(buffers, write(url))
  }

  /** The number of URLs. */
  get size(): number {
    return this.#native.size()
  }

  /** The canonical URLs, in no particular order, as they are when it begins: they are copied. */
  *[Symbol.iterator](): Iterator<string> {
    const native = this.#native.urls()
    const values = view(native.values(), native.size()).slice()
    const ends = native.ends()
    native.free()
    let start = 0
    for (const end of ends) {
      yield text(values.subarray(start, end))
      start = end
    }
  }

  /** Frees the memory now. Without it, that happens when the set is collected. */
  free(): void {
    this.#native.free()
  }
}
