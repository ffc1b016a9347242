// Texts of strangers as nodes: what acts on a reader is shown, and parts can be marked.

/** A range of a text: from, and up to. */
export type Range = [number, number]

/** Controls as pictures of them, and what changes the direction of text as its code point. */
const visible = (text: string): string =>
  text
    .replace(/[\x00-\x1f]/g, (control) => String.fromCharCode(0x2400 + control.charCodeAt(0)))
    .replace(
      /[\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g,
      (c) => `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`,
    )

/** An element with a text, or with children. */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  content: string | Node[],
  properties: Partial<HTMLElementTagNameMap[K]> = {},
): HTMLElementTagNameMap[K] {
  const made = Object.assign(document.createElement(name), properties)
  if (typeof content === 'string') made.textContent = content
  else made.append(...content)
  return made
}

/** A text in which ranges are marked by elements of this name. */
export function marked(text: string, ranges: Range[], mark: 'del' | 'ins' | 'mark'): Node[] {
  const nodes: Node[] = []
  let at = 0
  for (const [from, to] of ranges) {
    nodes.push(document.createTextNode(visible(text.slice(at, from))))
    // A fault may be what is missing at the end.
    nodes.push(element(mark, visible(text.slice(from, to)) || '␣'))
    at = to
  }
  nodes.push(document.createTextNode(visible(text.slice(at))))
  return nodes
}

/** The parts of two texts between what they share at both ends. */
export function difference(a: string, b: string): [Range[], Range[]] {
  if (a === b) return [[], []]
  let front = 0
  while (front < a.length && a[front] === b[front]) front += 1
  let back = 0
  while (back < Math.min(a.length, b.length) - front && a.at(-1 - back) === b.at(-1 - back)) back += 1
  const range = (text: string): Range[] => (text.length - back > front ? [[front, text.length - back]] : [])
  return [range(a), range(b)]
}
