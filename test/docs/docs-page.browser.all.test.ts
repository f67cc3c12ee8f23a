import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Browser, Page } from 'playwright-core'

import {
  assertSoundAs,
  findBarriers,
  findChromium,
  VIEWS,
  NO_CHROMIUM,
  startChromium,
  watchPage,
} from '../support/browser.ts'
import { isLong } from '../support/long.ts'
import { useService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'

const service = useService({ development: true, env: { ADMIN_SUBJECTS: 'operator' } })

const executable = findChromium()
const skip = executable === undefined && NO_CHROMIUM

describe('the pages in a browser', { skip }, () => {
  let browser: Browser

  before(async () => {
    browser = await startChromium(executable ?? '')
  })
  after(() => browser?.close())

  const open = async (path: string): Promise<{ page: Page; issues: string[] }> => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    const issues = watchPage(page, service.baseUrl)
    await page.goto(service.baseUrl + path)
    return { page, issues }
  }

  const assertSound = async (page: Page, what: string): Promise<void> => {
    for (const view of isLong ? VIEWS : VIEWS.slice(0, 2)) {
      const title = await assertSoundAs(page, what, view)
      const background = await page.evaluate<string>(
        'getComputedStyle(document.body).backgroundColor',
      )
      assert.equal(background === 'rgb(255, 255, 255)', view.colorScheme === 'light', title)
    }
  }

  /** Presses Tab until what has the focus is as asked. */
  const tabTo = async (page: Page, condition: string): Promise<void> => {
    for (let presses = 0; presses < 150; presses += 1) {
      await page.keyboard.press('Tab')
      if (await page.evaluate<boolean>(`(({ activeElement: focus }) => ${condition})(document)`))
        return
    }
    assert.fail(`Tab never leads to ${condition}`)
  }

  test('a first picture is relit by keyboard alone, and nothing serious stands in the way', async () => {
    const { page, issues } = await open('/docs')
    const press = async (name: string): Promise<void> => {
      await tabTo(page, `focus.textContent.trim().startsWith('${name}')`)
      await page.keyboard.press('Enter')
    }
    await page.waitForSelector('.opblock-tag')
    await press('Act as alice')
    await page.waitForSelector('text=You act as alice until')
    const pressed = page.getByRole('button', { pressed: true })
    assert.deepEqual(await pressed.allTextContents(), ['Act as alice'])
    await tabTo(page, `focus.closest('#operations-tag-Image_tasks') !== null`)
    await page.keyboard.press('Enter')
    await page.waitForSelector('.opblock-summary-control')
    await press('POST')
    await page.waitForSelector('.try-out__btn')
    await press('Try it out')
    await page.waitForSelector('.execute')
    await press('Execute')
    await page.waitForSelector('.outcome button')
    await press('Follow this task')
    await waitFor('the picture', () =>
      page.evaluate<boolean>(`document.querySelector('.outcome img')?.naturalWidth > 0`),
    )
    await assertSound(page, 'a route that was tried')
    await page.click('.btn.authorize')
    await page.waitForSelector('.dialog-ux')
    assert.deepEqual(await findBarriers(page), [])
    assert.deepEqual(issues, [])
  })

  test('a route is opened from the menu, in the typeface and the colours that the reader chose', async () => {
    const { page, issues } = await open('/docs')
    const routes = page.locator('#routes')
    await routes.getByText('Image tasks', { exact: true }).click()
    await routes.getByRole('link', { name: /^POST/ }).first().click()
    await page.waitForSelector('.opblock.is-open .microlight')
    const styleOf = (selector: string, name: string): Promise<string> =>
      page.evaluate<string>(`getComputedStyle(document.querySelector('${selector}'))['${name}']`)
    for (const text of ['h3.opblock-tag', '.opblock h4', '.try-out__btn', '.btn.authorize'])
      assert.match(await styleOf(text, 'font-family'), /^Inter,/, text)
    assert.equal(await styleOf('pre.microlight', 'background-color'), 'rgb(244, 241, 236)')
    const left = async (selector: string) => (await page.locator(selector).boundingBox())?.x
    assert.equal(await left('.btn.authorize'), await left('h1'))
    await page.getByLabel('Theme').selectOption('dark')
    assert.equal(await styleOf('pre.microlight', 'background-color'), 'rgb(30, 31, 36)')
    // The console keeps the same choice.
    await page.goto(`${service.baseUrl}/console/`)
    const background = 'getComputedStyle(document.documentElement).backgroundColor'
    await waitFor('the dark console', async () => {
      return (await page.evaluate<string>(background)) === 'rgb(20, 22, 26)'
    })
    assert.deepEqual(issues, [])
  })

  test('a search finds pages, headings, errors, settings and routes by keyboard, and packs elsewhere', async () => {
    const { page, issues } = await open('/docs/webhooks')
    await page.keyboard.press('/')
    for (const [text, place] of [
      ['rate_lim', '/docs/errors#rate_limited'],
      ['media slots', '/docs/settings#media_slots'],
      ['kilnstorefull', '/docs/troubleshoot#kilnstorefull'],
      ['tasks/{task_id}/stream', '/docs/endpoints#get-tasks-task_id-stream'],
      ['operations', '/docs/operations'],
      ['webhook retries', '/docs/webhooks#retries'],
      ['concurrency limit', '/docs/limits-and-errors'],
      ['what is a share link', '/docs/browser#share-it-without-a-page-of-yours'],
    ]) {
      await page.getByLabel('Search the docs').fill(text ?? '')
      await page.getByRole('list', { name: 'Results' }).getByRole('link').first().waitFor()
      await page.getByText(/^\d+ results?$/).waitFor()
      await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
      await page.waitForURL(`**${place}`)
    }
    const field = page.getByLabel('Search the docs')
    await field.fill('zzzz')
    await page.getByText('Nothing found in the docs').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    assert.match(page.url(), /\/docs\//)
    await assertSound(page, 'a search')
    await page.keyboard.press('Escape')
    await page.getByText('Nothing found in the docs').waitFor({ state: 'hidden' })
    await field.fill('light')
    await page.getByRole('link', { name: 'Search packs for “light”' }).click()
    await page.waitForURL('**/console/registry?q=light')
    assert.deepEqual(issues, [])
  })

  test('a key that is typed stands in the code of all languages, and nowhere after a reload', async () => {
    const { page, issues } = await open('/docs/first-task')
    const asked: string[] = []
    page.on('request', (request) => asked.push(`${request.url()} ${request.postData() ?? ''}`))
    const key = 'kiln_key_abc123'
    const code = () => page.evaluate<string>(`document.querySelector('article').textContent`)
    await page.getByLabel('Your API key').fill('"; rm -rf /')
    assert.ok((await code()).includes('X-API-KEY: $KILN_API_KEY'))
    await page.getByLabel('Your API key').fill(key)
    for (const line of [`X-API-KEY: ${key}"`, `apiKey: '${key}'`, `api_key="${key}"`])
      assert.ok((await code()).includes(line), line)
    await assertSound(page, 'a guide with a key')
    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie])'
    assert.ok(!(await page.evaluate<string>(kept)).includes(key))
    await page.reload()
    assert.ok(!(await code()).includes(key))
    assert.ok(!asked.join().includes(key))
    assert.deepEqual(issues, [])
  })

  test('the overview draws the states of a task in the colours of the page', async () => {
    const { page, issues } = await open('/docs/overview')
    const drawing = page.getByRole('img', { name: /waiting to queued; queued to running/ })
    await drawing.waitFor()
    const fill = `getComputedStyle(document.querySelector('svg .word')).fill`
    const light = await page.evaluate<string>(fill)
    await page.getByLabel('Theme').selectOption('dark')
    assert.notEqual(await page.evaluate<string>(fill), light)
    await page.getByLabel('Theme').selectOption('system')
    await assertSound(page, 'the overview')
    await page.setViewportSize({ width: 1280, height: 900 })
    await page.getByRole('link', { name: /^Next/ }).click()
    await page.waitForURL('**/docs/first-task')
    assert.deepEqual(issues, [])
  })

  test('the first load of the reference is small, and draws a group when it is opened', async () => {
    const page = await browser.newPage()
    const issues = watchPage(page, service.baseUrl)
    const session = await page.context().newCDPSession(page)
    await session.send('Network.enable')
    let bytes = 0
    session.on('Network.loadingFinished', ({ encodedDataLength }) => (bytes += encodedDataLength))
    await page.goto(`${service.baseUrl}/docs`, { waitUntil: 'networkidle' })
    await page.getByPlaceholder(/^Filter/).fill('webhook')
    const groups = page.locator('.opblock-tag-section')
    await waitFor('the groups that match', async () => (await groups.count()) < 10)
    assert.ok((await groups.count()) > 0)
    assert.equal(await page.locator('.opblock').count(), 0)
    assert.ok(bytes < 600_000, `${bytes} bytes`)
    await groups.first().locator('.opblock-tag').click()
    const route = page.locator('.opblock').first()
    await route.locator('.opblock-summary-control').click()
    await route.locator('.opblock-description').waitFor()
    await route.getByRole('heading', { name: 'Responses' }).waitFor()
    assert.deepEqual(issues, [])
  })

  test('a guide shows the language that the reader has chosen, on the next page, too', async () => {
    const { page, issues } = await open('/docs/batches')
    const group = page.locator('.languages').nth(1)
    const shown = () => group.locator('pre:visible').getAttribute('data-language')
    assert.equal(await shown(), 'sh')
    await group.getByRole('button', { name: 'Python' }).click()
    assert.equal(await shown(), 'python')
    assert.equal(
      await group.getByRole('button', { name: 'Python' }).getAttribute('aria-pressed'),
      'true',
    )
    await page.goto(`${service.baseUrl}/docs/webhooks`)
    // Where there is no such block the first is shown, and single blocks stay.
    assert.equal(await page.locator('.languages pre[data-language=sh]:visible').count(), 0)
    assert.ok((await page.locator('pre[data-language=js]:visible').count()) > 0)
    await assertSound(page, 'a guide in Python')
    assert.deepEqual(issues, [])
  })

  test('nothing serious stands in the way of the guides', async () => {
    const { page, issues } = await open('/docs/webhooks')
    await assertSound(page, 'a guide')
    await page.setViewportSize({ width: 1280, height: 900 })
    const contents = await page.getByRole('navigation', { name: 'On this page' }).boundingBox()
    assert.ok((contents?.x ?? 0) > 900, 'beside the guide')
    await page.setViewportSize({ width: 390, height: 900 })
    assert.equal(await page.locator('#pages').isVisible(), false)
    await page.click('#menu')
    await page.click('#pages >> text=Limits and errors')
    await page.waitForURL('**/docs/limits-and-errors')
    const code = await page.locator('pre').first().textContent()
    assert.ok(code?.includes(`API=${service.baseUrl}\n`))
    assert.deepEqual(issues, [])
  })
})
