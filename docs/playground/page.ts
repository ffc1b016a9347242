// The playground: what is typed, pasted or dropped, and what the rules make of it.

import {
  compare,
  explain,
  key,
  keys,
  normalize,
  type Profile,
  profiles,
  type Reject,
  summary,
} from '../../npm/dist/index.js'
import { start } from '../../npm/dist/module.js'
import init from '../../npm/dist/wasm.js'
import { type Line, type Outcome, read } from './list.js'
import { difference, element, marked } from './text.js'

const at = <T extends HTMLElement>(id: string) => document.getElementById(id) as T
const [urls, profile, chosen] = [
  at<HTMLTextAreaElement>('urls'),
  at<HTMLSelectElement>('profile'),
  at<HTMLInputElement>('chosen'),
]
const encoder = new TextEncoder()
const number = new Intl.NumberFormat('en')
const plural = (count: number, one: string, many = `${one}s`) => `${number.format(count)} ${count === 1 ? one : many}`

/** Lists that teach something. */
const EXAMPLES = [
  [
    'HTTP://Example.COM:80/%7Ea/../%62#top',
    'http://example.com/b',
    'http://www.example.com/b?utm_source=mail',
    'http://example.com:99999/',
  ],
  ['https://Bücher.example/a%2fb', 'https://xn--bcher-kva.example/a%2Fb', 'https://xn--bcher-kva.example/a/b'],
  ['http://0x7f.1/', 'http://127.0.0.1', 'http:\\\\127.0.0.1', 'http://127.0.0.1./'],
  [
    'http://shop.example/item/17?b=2&a=1',
    'http://shop.example/item/17/index.html?a=1&b=2',
    'http://shop.example//item/17;jsessionid=0123456789ABCDEF0123456789ABCDEF?a=1&b=2',
  ],
]

/** Characters beyond which a link would be cut by programs that pass it on. */
const LONGEST_LINK = 4000
/** Bytes of a file that can be shown as text; a larger one stays a file. */
const LARGEST_TEXT = 1 << 20
/** Lines of the table that are shown at once. */
const STEP = 200

let file: File | null = null
let outcome: Outcome | null = null
/** The number of the line below the list, from 0. */
let current = 0
let shown = STEP
/** Counts the readings, since only the last one may show its result. */
let readings = 0

const rules = () => profile.value as Profile

async function readList(): Promise<void> {
  const reading = ++readings
  const size = file?.size ?? 0
  const parts = file ? chunks(file) : [encoder.encode(urls.value)]
  try {
    const found = await read(parts, rules(), (bytes) => {
      if (file) say(`Read ${Math.floor((100 * bytes) / size)} % of ${file.name}`)
      return reading === readings
    })
    if (!found) return
    outcome = found
    say('')
  } catch (error) {
    if (reading === readings) say(`The list cannot be read: ${error instanceof Error ? error.message : error}`)
    return
  }
  current = Math.min(current, Math.max(0, outcome.shown.length - 1))
  shown = Math.max(STEP, current + 1)
  showList(outcome)
  showLine()
  keepLink()
}

/** The bytes of a file. Not every browser lets a stream be iterated. */
async function* chunks(file: File): AsyncGenerator<Uint8Array> {
  const reader = file.stream().getReader()
  for (let part = await reader.read(); !part.done; part = await reader.read()) yield part.value
}

const say = (text: string) => (at('note').textContent = text)

function showList({ lines, blank, rejected, distinct, time, shown: all }: Outcome): void {
  const accepted = lines - blank - rejected
  let text = `${plural(accepted + rejected, 'URL')}: ${number.format(distinct)} distinct under ${rules()}, `
  text += `${plural(accepted - distinct, 'duplicate')}, ${number.format(rejected)} rejected.`
  if (all.length === 2 && lines === 2 && rejected + blank === 0) {
    const { rung } = compare(all[0]!.text, all[1]!.text)
    text += rung
      ? ` Of the ladder, ${rung} is the first profile that joins the two.`
      : ' No profile of the ladder joins the two.'
  }
  // A clock of a browser is too coarse for a few URLs.
  if (time >= 1 && lines >= 1000)
    text += ` ${time.toFixed(0)} ms: ${number.format(Math.round(lines / time) * 1000)} a second.`
  at('summary').textContent = text
  at('lines')
    .querySelector('tbody')!
    .replaceChildren(...all.slice(0, shown).map(row))
  at('more').hidden = all.length <= shown
  at('save').hidden = distinct === 0
}

function row({ text, value, code, first }: Line, i: number): Node {
  const button = element('button', String(i + 1), {
    type: 'button',
    onclick: () => choose(i),
    ariaLabel: `Explain line ${i + 1}`,
  })
  const state = value === null ? code! : first ? `same as ${first}` : 'distinct'
  const form = element('span', marked(value ?? text, [], 'mark'), { className: 'form' })
  const made = element(
    'tr',
    [element('td', [button]), element('td', [element('span', state, { className: 'state' })]), element('td', [form])],
    { className: value === null ? 'rejected' : first ? 'duplicate' : '' },
  )
  if (i === current) made.ariaCurrent = 'true'
  return made
}

function choose(i: number): void {
  const rows = at('lines').querySelectorAll('tbody tr')
  rows[current]?.removeAttribute('aria-current')
  rows[i]?.setAttribute('aria-current', 'true')
  current = i
  showLine()
  keepLink()
}

function showLine(): void {
  const url = outcome?.shown[current]?.text ?? ''
  at('number').textContent = number.format(current + 1)
  at('url').replaceChildren(...marked(url, [], 'mark'))
  for (const name of document.querySelectorAll('.chosen')) name.textContent = rules()
  showForms(url)
  showSteps(url)
  at('keys').replaceChildren(
    ...keys
      .filter((name) => name !== 'url')
      .flatMap((name) => {
        const { value, reject } = key(url, name, rules())
        return [
          element('dt', name, { title: summary('key', name)! }),
          element(
            'dd',
            value === null
              ? [element('span', `none: ${reject.message}`, { className: 'quiet' })]
              : marked(value, [], 'mark'),
          ),
        ]
      }),
  )
}

/** A row for each form, with all profiles that give it. What differs from the chosen profile's form is marked. */
function showForms(url: string): void {
  const found = new Map<string, { names: Profile[]; value: string | null; reject: Reject | null }>()
  for (const name of profiles) {
    const { value, reject } = normalize(url, name)
    const same = value === null ? `${reject.code} ${reject.at}` : `= ${value}`
    const known = found.get(same)
    if (known) known.names.push(name)
    else found.set(same, { names: [name], value, reject })
  }
  const mine = normalize(url, rules()).value
  const groups = [...found.values()]
  const forms = groups.filter(({ value }) => value !== null).length
  const refusing = groups.filter(({ value }) => value === null).flatMap(({ names }) => names).length
  at('forms-summary').textContent =
    (forms > 1 ? `They disagree: ${forms} forms.` : forms === 1 ? 'One form.' : 'No form.') +
    (refusing ? ` ${plural(refusing, 'profile rejects', 'profiles reject')} it.` : '') +
    (forms > 1 && mine !== null ? ` Marked is where a form differs from that of ${rules()}.` : '')
  at('forms')
    .querySelector('tbody')!
    .replaceChildren(
      ...groups.map(({ names, value, reject }) => {
        const buttons = names.map((name) =>
          element('button', name, {
            type: 'button',
            title: summary('profile', name)!,
            ariaPressed: String(name === rules()),
            onclick: () => void use(name),
          }),
        )
        const what =
          value === null
            ? rejected(url, reject!)
            : [
                element('span', marked(value, mine === null ? [] : difference(mine, value)[1], 'ins'), {
                  className: 'form',
                }),
              ]
        return element('tr', [element('td', buttons), element('td', what)])
      }),
    )
}

function rejected(url: string, { at, codes, message }: Reject): Node[] {
  const end = at + ((url.codePointAt(at) ?? 0) > 0xffff ? 2 : 1)
  const place = element('span', marked(url, [[at, Math.min(end, url.length)]], 'mark'), { className: 'form' })
  return [
    element('span', `rejected, ${codes.join(', ')}: ${message}`, { className: 'state' }),
    element('br', ''),
    place,
  ]
}

function showSteps(url: string): void {
  const { value, reject, steps } = explain(url, rules())
  const items = steps.map(({ rule, sentence, source, before, after, removed, added }) =>
    element('li', [
      element('strong', rule),
      document.createTextNode(`: ${sentence}. `),
      element('span', source ?? '', { className: 'quiet' }),
      element('span', marked(before, removed, 'del'), { className: 'text' }),
      element('span', marked(after, added, 'ins'), { className: 'text' }),
    ]),
  )
  if (value === null) items.push(element('li', rejected(url, reject)))
  else if (items.length === 0) items.push(element('li', 'No rule changes it: it is in canonical form.'))
  at('steps').replaceChildren(...items)
}

async function use(name: Profile): Promise<void> {
  const pressed = document.activeElement?.closest('#forms')
  profile.value = name
  at('profile-summary').textContent = summary('profile', name)!
  await readList()
  // The button that was pressed is made anew.
  if (pressed) at('forms').querySelector<HTMLElement>('[aria-pressed=true]')?.focus()
}

/** Puts the page's state into its address: the profile, the line, and the URLs if they are few. */
function keepLink(): void {
  const state = new URLSearchParams({ profile: rules() })
  if (current > 0) state.set('line', String(current + 1))
  if (!file) state.set('urls', urls.value)
  const link = `#${state}`
  history.replaceState(null, '', link.length <= LONGEST_LINK && !file ? link : location.pathname + location.search)
}

function followLink(): boolean {
  const state = new URLSearchParams(location.hash.slice(1))
  const name = state.get('profile') as Profile | null
  if (name && profiles.includes(name)) profile.value = name
  if (!state.has('urls')) return false
  forgetFile()
  urls.value = state.get('urls')!
  current = Math.max(0, Number(state.get('line') ?? 1) - 1) || 0
  return true
}

function forgetFile(): void {
  file = null
  at('file').hidden = true
}

/** The text of a file, or `null` if bytes of it are not UTF-8: as text, two URLs could become one. */
async function textOf(given: File): Promise<string | null> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await given.arrayBuffer())
  } catch {
    return null
  }
}

async function take(given: File | undefined): Promise<void> {
  if (!given) return
  current = 0
  const text = given.size <= LARGEST_TEXT ? await textOf(given) : null
  if (text !== null) {
    forgetFile()
    urls.value = text
  } else {
    file = given
    urls.value = ''
    at('file').firstElementChild!.textContent = `${given.name}, ${(given.size / 1e6).toFixed(1)} MB`
    at('file').hidden = false
  }
  await readList()
}

function listen(): void {
  let timer = 0
  urls.addEventListener('input', () => {
    forgetFile()
    clearTimeout(timer)
    // Whoever types into a long list does not wait for each key.
    timer = setTimeout(readList, urls.value.length > 100_000 ? 300 : 0)
  })
  // The line below the list is the one that the cursor is in.
  document.addEventListener('selectionchange', () => {
    if (document.activeElement !== urls || file) return
    const line = urls.value.slice(0, urls.selectionStart).split('\n').length - 1
    if (outcome && line !== current && line < outcome.shown.length) choose(line)
  })
  profile.addEventListener('change', () => void use(rules()))
  at('choose').addEventListener('click', () => chosen.click())
  chosen.addEventListener('change', () => void take(chosen.files?.[0]))
  at('forget').addEventListener('click', () => {
    forgetFile()
    void readList()
    urls.focus()
  })
  let example = 0
  at('example').addEventListener('click', () => {
    forgetFile()
    example = (example + 1) % EXAMPLES.length
    urls.value = EXAMPLES[example]!.join('\n')
    current = 0
    void readList()
  })
  at('link').addEventListener('click', async () => {
    if (!location.hash) return say('The list is too long for a link.')
    const copied = await navigator.clipboard?.writeText(location.href).then(
      () => true,
      () => false,
    )
    say(copied ? 'The link is copied.' : 'The link is the address of this page.')
  })
  at('more').addEventListener('click', () => {
    shown += STEP
    if (outcome) showList(outcome)
  })
  at('save').addEventListener('click', () => {
    const link = element('a', '', { href: URL.createObjectURL(new Blob(outcome!.saved)), download: 'distinct.txt' })
    link.click()
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
  })
  for (const name of ['dragenter', 'dragover', 'dragleave', 'drop'] as const) {
    document.addEventListener(name, (event) => {
      const files = event.dataTransfer?.types.includes('Files')
      if (!files) return
      event.preventDefault()
      document.body.classList.toggle('dropping', name === 'dragenter' || name === 'dragover')
      if (name === 'drop') void take(event.dataTransfer?.files[0])
    })
  }
  window.addEventListener('hashchange', () => {
    if (followLink()) void use(rules())
  })
}

/** The module, compressed and in base64, so that the page is one file. `scripts/playground` puts it here. */
declare const MODULE: string

async function main(): Promise<void> {
  const text = atob(MODULE)
  const packed = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) packed[i] = text.charCodeAt(i)
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'))
  start(await init({ module_or_path: new Response(stream, { headers: { 'Content-Type': 'application/wasm' } }) }))
  profile.replaceChildren(
    ...profiles.map((name) => element('option', name, { value: name, selected: name === 'crawl' })),
  )
  if (!followLink()) urls.value = EXAMPLES[0]!.join('\n')
  listen()
  await use(rules())
  performance.mark('shown') // for the check of the page
}

main().catch((error) => {
  at('summary').textContent = `This browser cannot run the page: ${error instanceof Error ? error.message : error}`
})
