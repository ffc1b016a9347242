// What the package exports, once the module is there: `node.ts` and `browser.ts` load it.

export { normalizeBatch } from './batch.js'
export { codes, keys, profiles, switches } from './names.js'
export type { Code, Key, Profile, Switch } from './names.js'
export { prepare } from './rules.js'
export type { Prepared } from './rules.js'
export { UrlSet } from './set.js'
export type { Batch, Comparison, Explanation, Options, Reject, Result, Rules, SetBatch, Step } from './types.js'
export { compare, explain, key, normalize, summary } from './url.js'
