// What the package says of drawn URLs is what the library says, natively compiled, under every profile.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { env } from 'node:process'
import { test } from 'node:test'
import { codes, explain, key, normalize, normalizeBatch, profiles, UrlSet } from '../dist/node.js'
import { draw } from './drawn.mjs'

const seed = 20240229
const count = env.UNIQURL_LONG ? 1_000_000 : 20_000
/** URLs for which the other program is asked at once: its answers are one string. */
const chunk = 100_000

const urls = [...draw(count, seed)]
const utf8 = (hex) => (hex === '-' ? null : Buffer.from(hex, 'hex').toString())

/** What the library says of these URLs. */
function answers(profile, urls) {
  const input = urls.map((url) => `${url.toString('hex')}\n`).join('')
  const asked = spawnSync(env.UNIQURL_ANSWERS, [profile], { input, maxBuffer: 2 ** 30, encoding: 'latin1' })
  assert.equal(asked.status, 0, asked.stderr)
  return asked.stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.split('\t'))
}

function assertText(url, [, , canonical, reasons, isCanonical, name, form, at], profile) {
  const found = normalize(url, profile)
  assert.equal(found.value, utf8(canonical))
  const keyed = key(url, name, profile)
  assert.equal(keyed.value, utf8(form))
  if (found.reject) {
    assert.equal(found.reject.codes.join(), reasons)
    assert.equal(found.reject.at, Buffer.from(url).subarray(0, at).toString().length)
    assert.deepEqual(keyed.reject, found.reject)
    return false
  }
  assert.equal(found.value === url, isCanonical === 'true')
  assert.equal(keyed.reject?.code, form === '-' ? 'no-host' : undefined)
  return true
}

function assertSteps(url, profile) {
  const { value, steps } = explain(url, profile)
  let before = url
  for (const step of steps) {
    // In between a text may hold bytes that are not UTF-8.
    assert.equal(step.before, before)
    const cut = (text, marks) => marks.reduceRight((text, [from, to]) => text.slice(0, from) + text.slice(to), text)
    assert.equal(cut(step.before, step.removed), cut(step.after, step.added), 'what is not marked is the same')
    before = step.after
  }
  assert.equal(before, value)
}

function assertBatch(urls, rows, profile) {
  // A list cannot hold those with line ends.
  const kept = [...rows.keys()].filter((i) => !urls[i].includes(10) && urls[i].at(-1) !== 13)
  const list = Buffer.concat(kept.flatMap((i) => [urls[i], Buffer.from('\n')]))
  const { values, offsets, rejects } = normalizeBatch(list, profile)
  assert.equal(offsets.length, kept.length + 1)
  const set = new UrlSet(profile)
  const { isNew, ...same } = set.addBatch(list)
  assert.deepEqual(same, { values, offsets, rejects })
  const seen = new Set()
  for (const [row, i] of kept.entries()) {
    const [, , canonical, reasons] = rows[i]
    const value = Buffer.from(values.subarray(offsets[row], offsets[row + 1]))
      .toString('hex')
      .toUpperCase()
    const code = rejects[row] === 0 ? '-' : codes[rejects[row] - 1]
    assert.deepEqual([value, code], [canonical === '-' ? '' : canonical, reasons.split(',')[0]], urls[i].toString())
    assert.equal(isNew[row], Number(canonical !== '-' && !seen.has(canonical)))
    if (canonical !== '-') seen.add(canonical)
  }
  assert.equal(set.size, seen.size)
  set.free()
}

for (const profile of profiles) {
  test(
    `answers of ${profile} are those of the library (seed ${seed})`,
    { skip: !env.UNIQURL_ANSWERS && 'needs UNIQURL_ANSWERS' },
    () => {
      let [texts, accepted] = [0, 0]
      for (let start = 0; start < count; start += chunk) {
        const some = urls.slice(start, start + chunk)
        const rows = answers(profile, some)
        assert.equal(rows.length, some.length)
        assertBatch(some, rows, profile)
        for (const [i, row] of rows.entries()) {
          if (row[1] !== 'true') continue
          const url = some[i].toString()
          texts += 1
          if (!assertText(url, row, profile)) continue
          accepted += 1
          if (i % 50 === 0) assertSteps(url, profile)
        }
      }
      // The test would say nothing if nearly all URLs were of one kind.
      assert.ok(count / 2 < texts && texts < count && count / 5 < accepted, `${texts} texts, ${accepted} accepted`)
    },
  )
}
