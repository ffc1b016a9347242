// Opens the playground in headless Chromium and uses it as people do: `scripts/check-page` runs it.
//
//   node docs/playground/check.mjs PAGE CHROMIUM PICTURES

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { argv } from 'node:process'
import { pathToFileURL } from 'node:url'

const { chromium } = createRequire(new URL('../../npm/package.json', import.meta.url))('playwright-core')
const [, , page, executablePath, pictures] = argv
const address = pathToFileURL(page).href
mkdirSync(pictures, { recursive: true })

const browser = await chromium.launch({
  executablePath,
  args: [
    '--no-sandbox',
    '--disable-gpu',
    '--disable-dev-shm-usage',
    '--disable-background-networking',
    '--no-first-run',
  ],
})

/** A tab with the page, in which an error of a script or a request fails the check. */
async function open({ hash = '', width = 1280, height = 900, colorScheme = 'light' } = {}) {
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, acceptDownloads: true })
  const tab = await context.newPage()
  tab.on('pageerror', (error) => assert.fail(error))
  tab.on('console', (message) => assert.notEqual(message.type(), 'error', message.text()))
  tab.on('request', (request) => assert.match(request.url(), /^(file|data|blob):/, 'the page asks nobody'))
  await tab.goto(address + hash)
  await tab.waitForFunction(() => document.querySelector('#lines tbody tr'))
  return tab
}

const text = (tab, selector) => tab.locator(selector).innerText()
const shows = async (tab, selector, pattern) => {
  await tab
    .waitForFunction(
      ([selector, pattern]) => new RegExp(pattern).test(document.querySelector(selector).innerText),
      [selector, pattern.source],
      { timeout: 10_000 },
    )
    .catch(async () => assert.match(await text(tab, selector), pattern))
}
const picture = (tab, name, options = {}) => tab.screenshot({ path: `${pictures}/${name}.png`, ...options })

const checks = {
  async 'the first view shows an example, within a second'() {
    // The first tab of a browser waits for the browser.
    await open()
    const tab = await open()
    const shown = await tab.evaluate(() => performance.getEntriesByName('shown')[0].startTime)
    await shows(tab, '#summary', /^4 URLs: 2 distinct under crawl, 1 duplicate, 1 rejected\./)
    await picture(tab, 'light')
    assert.ok(shown < 1000 * slow, `${shown} ms`)
    return `${shown.toFixed(0)} ms`
  },
  async 'typing changes the list, the forms, the rules and the keys'() {
    const tab = await open()
    await tab.locator('#urls').fill('')
    await tab.locator('#urls').pressSequentially('HTTP://h.example:80/user/7\nhttp://h.example/user/7')
    await shows(
      tab,
      '#summary',
      /2 URLs: 1 distinct under crawl, 1 duplicate, 0 rejected\. Of the ladder, scheme is the first/,
    )
    await shows(tab, '#number', /^2$/)
    await tab.locator('#lines button').first().click()
    await shows(tab, '#steps', /default-port[^]*RFC 3986 section 6\.2\.3/)
    assert.equal(await text(tab, '#steps del >> nth=0'), 'HTTP')
    await shows(tab, '#keys', /template\s+http:\/\/h\.example\/user\/\{int\}/)
    await shows(tab, '#forms-summary', /They disagree: \d forms/)
  },
  async 'a rejected URL is marked where its fault is'() {
    const tab = await open({ hash: `#${new URLSearchParams({ urls: 'http://h:99999/' })}` })
    await shows(tab, '#steps', /rejected, port-range: a port above 65535/)
    assert.equal(await text(tab, '#steps mark'), '9')
    await shows(tab, '#lines', /port-range/)
  },
  async 'a click on a profile chooses it, and the list follows'() {
    const tab = await open()
    await tab.getByRole('button', { name: 'aggressive', exact: true }).click()
    await shows(tab, '#summary', /1 distinct under aggressive/)
    assert.equal(await tab.locator('#profile').inputValue(), 'aggressive')
    assert.equal(await tab.evaluate(() => document.activeElement.closest('button')?.textContent), 'aggressive')
    await tab.locator('#profile').selectOption('string')
    await shows(tab, '#summary', /4 distinct under string/)
  },
  async 'a link brings back the list, the profile and the line'() {
    const tab = await open()
    await tab.locator('#urls').fill('http://a/\nhttp://b/?b&a#é&=+%')
    await tab.locator('#profile').selectOption('whatwg')
    await tab.locator('#lines button').nth(1).click()
    await shows(tab, '#url', /^http:\/\/b\//)
    const { hash } = new URL(tab.url())
    const other = await open({ hash })
    assert.equal(await other.locator('#urls').inputValue(), 'http://a/\nhttp://b/?b&a#é&=+%')
    assert.equal(await other.locator('#profile').inputValue(), 'whatwg')
    await shows(other, '#url', /^http:\/\/b\//)
    assert.equal(await text(other, '#number'), '2')
  },
  async 'ten thousand pasted lines are shown within a second'() {
    const tab = await open()
    const lines = Array.from(
      { length: 10_000 },
      (_, i) => `HTTP://www.h${i % 7000}.example:80/%7Ea/../b?id=${i % 7000}`,
    )
    await tab.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await tab.evaluate((pasted) => navigator.clipboard.writeText(pasted), lines.join('\n'))
    await tab.evaluate(() => {
      document.getElementById('urls').addEventListener('paste', () => performance.mark('pasted'), { capture: true })
      new MutationObserver(() => performance.mark('list')).observe(document.getElementById('summary'), {
        childList: true,
      })
    })
    await tab.locator('#urls').focus()
    await tab.keyboard.press('ControlOrMeta+A')
    await tab.keyboard.press('ControlOrMeta+V')
    await tab.waitForFunction(() => document.getElementById('summary').textContent.startsWith('10,000'))
    const time = await tab.evaluate(() => performance.measure('paste', 'pasted', 'list').duration)
    await shows(
      tab,
      '#summary',
      /10,000 URLs: 7,000 distinct under crawl, 3,000 duplicates, 0 rejected\..* a second\.$/,
    )
    assert.ok(time < 1000 * slow, `${time} ms`)
    await tab.locator('#more').click()
    assert.equal(await tab.locator('#lines tbody tr').count(), 400)
    return `${time.toFixed(0)} ms: ${(await text(tab, '#summary')).match(/\d+ ms.*/)[0]}`
  },
  async 'a dropped file is read, and its distinct URLs can be saved'() {
    const tab = await open()
    const drop = (name, parts) =>
      tab.evaluate(
        ([name, line, count]) => {
          const data = new DataTransfer()
          data.items.add(new File([Array.from({ length: count }, (_, i) => line.replace('#', i >> 1)).join('')], name))
          for (const type of ['dragenter', 'dragover', 'drop'])
            document.body.dispatchEvent(new DragEvent(type, { dataTransfer: data, bubbles: true, cancelable: true }))
        },
        [name, ...parts],
      )
    await drop('small.txt', ['http://h/#\r\n', 6])
    await shows(tab, '#summary', /6 URLs: 3 distinct/)
    assert.match(await tab.locator('#urls').inputValue(), /^http:\/\/h\/0/)
    await drop('large.txt', ['HTTP://host.example:80/a/long/path/to/make/it/large/#\n', 200_000])
    await shows(tab, '#summary', /200,000 URLs: 100,000 distinct under crawl, 100,000 duplicates/)
    await shows(tab, '#file', /large\.txt, 11\.\d MB/)
    const [download] = await Promise.all([tab.waitForEvent('download'), tab.locator('#save').click()])
    const saved = readFileSync(await download.path(), 'utf8').split('\n')
    assert.deepEqual(
      [saved.length, saved[0], saved[99_999]],
      [
        100_001,
        'http://host.example/a/long/path/to/make/it/large/0',
        'http://host.example/a/long/path/to/make/it/large/99999',
      ],
    )
    await picture(tab, 'file')
    // As text, the two lines would be one.
    await tab.evaluate(() => {
      const data = new DataTransfer()
      data.items.add(
        new File(
          [new Uint8Array([...'http://h/'].map((c) => c.charCodeAt(0)).concat(0xff, 10)), 'http://h/\ufffd'],
          'bytes',
        ),
      )
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer: data, bubbles: true, cancelable: true }))
    })
    await shows(tab, '#summary', /2 URLs: 2 distinct/)
    await tab.locator('#forget').click()
    await shows(tab, '#summary', /^0 URLs/)
  },
  async 'it works by keyboard alone'() {
    const tab = await open()
    const names = []
    for (let i = 0; i < 14; i++) {
      await tab.keyboard.press('Tab')
      names.push(await tab.evaluate(() => document.activeElement.id || document.activeElement.textContent))
    }
    assert.deepEqual(names.slice(0, 5), ['urls', 'profile', 'choose', 'example', 'link'])
    await tab.locator('#lines button').nth(3).focus()
    await tab.keyboard.press('Enter')
    await shows(tab, '#number', /^4$/)
  },
  async 'a screen reader finds names, headings and results'() {
    const tab = await open()
    for (const [role, name] of [
      ['textbox', 'URLs, one on each line'],
      ['combobox', 'Profile'],
      ['button', 'Explain line 2'],
      ['heading', 'Keys under crawl'],
      ['region', 'The list'],
      ['region', 'Lines'],
    ]) {
      assert.equal(await tab.getByRole(role, { name, exact: true }).count(), 1, `${role} ${name}`)
    }
    assert.equal(await tab.locator('#summary[role=status]').count(), 1)
    const unnamed = await tab.evaluate(() =>
      [...document.querySelectorAll('button, input:not([hidden]), select, textarea')]
        .filter((e) => !(e.labels?.length || e.textContent.trim() || e.ariaLabel))
        .map((e) => e.outerHTML),
    )
    assert.deepEqual(unnamed, [])
  },
  async 'colours have a contrast of 4.5, in light and dark'() {
    for (const colorScheme of ['light', 'dark']) {
      const tab = await open({ colorScheme })
      const low = await tab.evaluate(() => {
        const draw = Object.assign(document.createElement('canvas'), { width: 1, height: 1 }).getContext('2d', {
          willReadFrequently: true,
        })
        const rgb = (colors) => {
          for (const color of colors) Object.assign(draw, { fillStyle: color }).fillRect(0, 0, 1, 1)
          return [...draw.getImageData(0, 0, 1, 1).data].slice(0, 3)
        }
        const light = (channels) =>
          channels
            .map((c) => ((c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
            .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0)
        const found = []
        for (const node of document.querySelectorAll('body *')) {
          if (!node.innerText?.trim() || node.children.length > 0) continue
          const backs = []
          for (let e = node; e; e = e.parentElement) backs.unshift(getComputedStyle(e).backgroundColor)
          const [a, b] = [light(rgb(backs)), light(rgb([...backs, getComputedStyle(node).color]))]
          const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05)
          if (contrast < 4.5) found.push(`${node.outerHTML} ${contrast.toFixed(2)}`)
        }
        return found
      })
      assert.deepEqual(low, [], colorScheme)
      await picture(tab, colorScheme, { fullPage: true })
    }
  },
  async '400 pixels are enough'() {
    const urls = `http://h/${'a'.repeat(300)}\nHTTP://h:80/${'%7e'.repeat(60)}`
    for (const colorScheme of ['light', 'dark']) {
      const tab = await open({
        width: 400,
        height: 800,
        colorScheme,
        hash: `#${new URLSearchParams({ urls, line: 2 })}`,
      })
      assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth), 400)
      await picture(tab, `narrow-${colorScheme}`, { fullPage: true })
    }
  },
  async 'texts of strangers do nothing'() {
    const urls = 'http://h/<img src=x onerror=alert(1)>\u202Etxt\u0007\nhttp://h/</script><script>throw 1</script>'
    const tab = await open({ hash: `#${new URLSearchParams({ urls })}` })
    await shows(tab, '#url', /⟨U\+202E⟩txt␇/)
    assert.equal(await tab.locator('main img, main script').count(), 0)
  },
}

// A busy machine is slower than the one of a person who looks.
const slow = process.env.CI ? 5 : 1
const times = []
for (const [name, check] of Object.entries(checks)) {
  const said = await check()
  console.log(`ok: ${name}${said ? ` (${said})` : ''}`)
  if (said) times.push(`${name}: ${said}`)
  for (const context of browser.contexts()) await context.close()
}
writeFileSync(`${pictures}/times.txt`, `${times.join('\n')}\n`)
await browser.close()
