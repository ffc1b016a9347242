// The types, as a program in TypeScript sees them: `scripts/check-npm` compiles this file, and does not run it.

import { codes, key, normalize, normalizeBatch, prepare, UrlSet, type Options, type Result } from 'uniqurl'

const options: Options = { profile: 'aggressive', without: ['strip-www'], base: 'http://h/' }
const found: Result = normalize('http://h', options)
// Only one of the two is there.
export const text: string = found.value === null ? `${found.reject.code} ${found.reject.at + 1}` : found.value
const { values, offsets, rejects } = normalizeBatch(new Uint8Array(), 'crawl@1')
export const first: Uint8Array = values.subarray(offsets[0], offsets[1])
export const code = codes[rejects[0]! - 1]
export const added: boolean = new UrlSet(prepare(options)).add('x').isNew
for (const url of new UrlSet()) key(url, 'surt').value?.length

// @ts-expect-error: there is no such profile
normalize('x', 'crwl')
// @ts-expect-error: there is no such option
normalize('x', { wiht: [] })
// @ts-expect-error: nothing else is prepared
normalize('x', {} as ReadonlyMap<string, string>)
