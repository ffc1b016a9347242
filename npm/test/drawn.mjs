// URLs drawn from a seed: those of the repository's samples and vectors, spliced and with some bytes changed.

import { readdirSync, readFileSync } from 'node:fs'

const corpora = new URL('../../corpora/', import.meta.url)

// What readers of URLs stumble over.
// prettier-ignore
const pieces = [
  '%', '%2', '%2f', '%2E%2e', '%FF', '%25', '/', '//', '/../', '/./', '\\', '?', '#', '&', ';', '=', ':', '@', ':80',
  ':443', ':99999', '[', ']', '[::1]', '127.1', '0x7f', 'www.', 'xn--', '.', ' ', '\t', '\n', '\r', '\0', '\x7f',
  'é', '。', '😀', 'utm_source=x', 'HTTP:', 'index.html', 'jsessionid=0123456789ABCDEF0123456789ABCDEF',
  '2024/02/29', 'A'.repeat(70),
].map((piece) => Buffer.from(piece))

function known() {
  const urls = readFileSync(new URL('sample.txt', corpora), 'latin1').split('\n')
  const vectors = new URL('vectors/', corpora)
  for (const name of readdirSync(vectors).filter((name) => name.endsWith('.tsv'))) {
    for (const line of readFileSync(new URL(name, vectors), 'latin1').split('\n')) {
      const [url] = line.split('\t')
      urls.push(url.replace(/\\x(..)/g, (_, hex) => String.fromCharCode(parseInt(hex, 16))))
    }
  }
  return urls.filter(Boolean).map((url) => Buffer.from(url, 'latin1'))
}

/** Numbers below a bound, the same for a seed everywhere (mulberry32). */
export function numbers(seed) {
  return (bound) => {
    seed = (seed + 0x6d2b79f5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % bound
  }
}

/** Yields `count` URLs as bytes. */
export function* draw(count, seed) {
  const [urls, below] = [known(), numbers(seed)]
  const one = (list) => list[below(list.length)]
  for (let i = 0; i < count; i++) {
    let url = one(urls)
    if (below(10) < 3) {
      const other = one(urls)
      url = Buffer.concat([url.subarray(0, below(url.length + 1)), other.subarray(below(other.length + 1))])
    }
    for (let changes = one([0, 0, 1, 1, 2, 5]); changes > 0; changes--) {
      const at = below(url.length + 1)
      const piece = below(10) < 8 ? one(pieces) : Buffer.from([below(256), below(256)])
      url = Buffer.concat([url.subarray(0, at), piece, url.subarray(at + one([0, 0, 1, 3]))])
    }
    yield url
  }
}
