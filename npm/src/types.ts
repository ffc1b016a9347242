// What comes in and out.

import type { Code, Profile, Switch } from './names.js'
import type { Prepared } from './rules.js'

/**
 * Which URLs are the same. Unknown names, and options that the profile does not support, throw a `TypeError`:
 * they are mistakes of a program, and not of its input.
 */
export interface Options {
  /** A built-in profile; `crawl` by default. `crawl@1` insists on a version. */
  profile?: Profile | `${Profile}@${number}`
  /** The text of a profile file, in place of `profile`: the same file that the command takes with `--profile-file`. */
  profileFile?: string
  /** Switches of the profile to turn on. */
  with?: readonly Switch[]
  /** Switches of the profile to turn off. */
  without?: readonly Switch[]
  /** Parameters of the query to drop; `*` stands for any characters. */
  dropParams?: readonly string[]
  /** Drops all other parameters. */
  keepParams?: readonly string[]
  /** Checks of the profiles `sanitize` and `servlet` to switch off. */
  allow?: readonly Code[]
  /** Their further checks to switch on. */
  deny?: readonly Code[]
  /** The ring of the profile `ring`, such as `decode=2F,3A encode=21,24`. */
  ring?: string
  /** The URL by which relative ones are resolved. */
  base?: string
  /** The scheme of URLs that have none, such as `https`. */
  assumeScheme?: string
}

/** Options, only the name of a profile, or what `prepare` made of options. */
export type Rules = Options | NonNullable<Options['profile']> | Prepared

/** Why a URL has no canonical form. */
export interface Reject {
  /** The reason. If there are several, the one whose fault starts first. */
  code: Code
  /** All reasons, `code` first. Only `sanitize` and `servlet` give several. */
  codes: Code[]
  /** Where the fault starts: an index into the URL, or its length for what is missing at its end. */
  at: number
  /** The reason in a few words. */
  message: string
}

/** A value, or the reason why there is none. */
export type Result = { value: string; reject: null } | { value: null; reject: Reject }

/** One rule that changed a URL. */
export interface Step {
  /** The name of the rule. */
  rule: string
  /** What the rule does. */
  sentence: string
  /** The section of the standard that it comes from, or `null`. */
  source: string | null
  /** The URL before the rule. A byte that is not UTF-8 is U+FFFD here. */
  before: string
  /** The URL after it. */
  after: string
  /** The parts of `before` that `after` does not have, as pairs of start and end. */
  removed: [number, number][]
  /** The parts of `after` that `before` does not have. */
  added: [number, number][]
}

/** A result, with the steps that led to it: none for a canonical URL, and none for a rejected one. */
export type Explanation = Result & { steps: Step[] }

/** Two URLs under each profile of the ladder, from `string` to `aggressive`. */
export interface Comparison {
  /** The first profile that gives both one form, or `null` if none does. */
  rung: Profile | null
  /** What each profile makes of them. */
  rungs: { profile: Profile; a: Result; b: Result }[]
}

/**
 * The canonical forms of many URLs. Value `i` is `values.subarray(offsets[i], offsets[i + 1])`, empty for a rejected
 * URL. This is how Arrow stores a column of binary values.
 */
export interface Batch {
  /** The canonical URLs, one after the other. */
  values: Uint8Array
  /** Where they start; one more than there are URLs. */
  offsets: Uint32Array
  /** For each URL 0, or one more than the place of its code: `codes[rejects[i] - 1]`. */
  rejects: Uint8Array
}

/** The canonical forms of URLs that were added to a set. */
export interface SetBatch extends Batch {
  /** For each URL 1 if the set did not hold it before, else 0. */
  isNew: Uint8Array
}
