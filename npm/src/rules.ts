// Options of JavaScript become rules of the module. Rules are kept, since making them takes longer than using them.

import { Options as Builder, type Rules as Native } from './wasm.js'
import type { Options, Rules } from './types.js'

/** Kinds of rules that are kept. A program has a few; one that makes options of its input must not fill the memory. */
const MOST = 64

const known = new Map<string, Native>()
let crawl: Native | undefined

/**
 * Rules that were read once: see `prepare`. What it takes to read them can be many times what a URL takes, as with a
 * long profile file.
 */
export class Prepared {
  readonly #native: Native

  /** @internal */
  constructor(native: Native) {
    this.#native = native
  }

  /** @internal */
  get native(): Native {
    return this.#native
  }
}

/**
 * Reads options once, for many URLs one by one. Wherever options are taken, the result is taken as well.
 *
 * ```js
 * const shop = prepare({ profileFile: await readFile('shop.toml', 'utf8') })
 * for (const url of urls) normalize(url, shop)
 * ```
 */
export const prepare = (rules: Options): Prepared => new Prepared(make(rules))

/** The rules for these options. @internal */
export function rulesOf(rules?: Rules): Native {
  if (rules === undefined) return (crawl ??= rulesOf('crawl'))
  if (rules instanceof Prepared) return rules.native
  const name = typeof rules === 'string' ? rules : JSON.stringify(rules)
  let native = known.get(name)
  if (native === undefined) {
    native = make(rules)
    const [oldest] = known.keys()
    // A set may still use it, so it is freed when nothing does.
    if (known.size === MOST && oldest !== undefined) known.delete(oldest)
    known.set(name, native)
  }
  return native
}

function make(rules: Options | string): Native {
  const { profile, profileFile, ...others } =
    typeof rules === 'string' ? { profile: rules, profileFile: undefined } : rules
  try {
    if (profile !== undefined && profileFile !== undefined) throw new Error('a profile file names its profile itself')
    const builder = profileFile === undefined ? new Builder(profile ?? 'crawl') : Builder.ofFile(profileFile)
    for (const [name, value] of Object.entries(others)) {
      if (value === undefined) continue
      for (const one of Array.isArray(value) ? value : [value]) builder.set(name, String(one))
    }
    return builder.build()
  } catch (error) {
    throw new TypeError(error instanceof Error ? error.message : String(error))
  }
}
