import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeClient } from '../../../test/support/client.ts'
import { insertTasks } from '../../../test/support/task-rows.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { assertSound, chooseEntry, inLong, skip, useConsole } from './harness.ts'

describe('the frame of the console', { skip }, () => {
  const console = useConsole()

  test('a user is chosen by keyboard, stays over a reload, and is gone from all tabs after signing out', async () => {
    const page = await console.open('/account')
    await page.getByText('Users of this development server: no password').waitFor()
    await page.getByRole('button', { name: 'Sign in as alice' }).focus()
    await page.keyboard.press('Enter')
    const menu = page.getByRole('button', { name: 'Signed in as alice' })
    await menu.waitFor()
    await page.reload()
    await menu.waitFor()
    const other = await console.open('/tasks', { context: page.context() })
    await other.getByRole('button', { name: 'Signed in as alice' }).waitFor()
    const rejected: string[] = []
    for (const tab of [page, other])
      tab.on('response', (response) => response.status() === 401 && rejected.push(response.url()))
    await menu.click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    for (const tab of [page, other]) {
      await tab.getByRole('link', { name: 'Sign in', exact: true }).waitFor()
      const kept = await tab.evaluate<string>('JSON.stringify({ ...sessionStorage })')
      assert.doesNotMatch(kept, /kiln\./)
    }
    assert.deepEqual(rejected, [])
  })

  test('pages show those who may not see them who may', inLong, async () => {
    const page = await console.open('/moderation', { as: 'bob' })
    await page.getByText('Only platform admins can see this page.').waitFor()
    const signedOut = await console.open('/operations')
    await signedOut.getByText('Sign in as a platform admin').waitFor()
    const admin = await console.open('/', { as: 'operator' })
    await admin.getByRole('link', { name: 'Operations' }).waitFor()
  })

  test('says when the service is away, and goes on by itself', async () => {
    const page = await console.open('/account', { as: 'alice' })
    await page.getByText('alice', { exact: true }).first().waitFor()
    await console.service.entry('api').kill()
    // Its script is not loaded yet, and cannot be.
    await page.getByRole('link', { name: 'Publishers', exact: true }).click()
    await page.getByText('Kiln does not respond').waitFor()
    await console.service.start('api')
    await page.getByRole('heading', { name: 'Publishers' }).waitFor()
    await page.getByText('Kiln does not respond').waitFor({ state: 'detached' })
    await assertSound(page)
  })

  test('home shows what runs, and in strangers’ words nothing but words', async () => {
    const page = await console.open('/', { as: 'alice' })
    await page.getByText('First steps').waitFor()
    const token = await console.service.token('alice')
    const alice = makeClient(console.service.baseUrl, token)
    const prompt = '<img src=x onerror=alert(1)>\u202Egnp'
    const body = { model: 'videoq2-pro', prompt, duration: 4, resolution: '1080p' }
    // A tiny video is done before a page has drawn it.
    const media = console.service.entry('media')
    media.signal('SIGSTOP')
    const made = await alice.post('/proxy/vidvendor/text2video', body)
    assert.equal(made.status, 200, JSON.stringify(made.body))
    await page.getByText('<img src=x onerror=alert(1)>U+202Egnp').waitFor()
    media.signal('SIGCONT')
    await page.reload()
    await assertSound(page)
    await page.getByRole('link', { name: /^\d+ credits used, no limit$/ }).click()
    await page.getByRole('heading', { name: 'By day' }).waitFor()
    await page.getByText('Videos at once').waitFor()
  })

  test('home names what needs attention until it is dismissed, and again what fails later', async () => {
    const { sql } = console.service.database
    const task = { owner: 'carol', settings: { prompt: 'sun' } }
    const fail = async (): Promise<void> => {
      await insertTasks(sql, { ...task, kind: 'relight', state: 'failed' })
      await insertTasks(sql, { ...task, state: 'done' })
    }
    await fail()
    const page = await console.open('/', { as: 'carol' })
    const dismiss = page.getByRole('button', { name: /^Dismiss: / })
    await page.getByText('1 task failed in the last 24 hours').waitFor()
    await assertSound(page)
    await dismiss.press('Enter')
    await dismiss.waitFor({ state: 'detached' })
    const read = ['/tasks/summary', 'state=failed'].map((part) =>
      page.waitForResponse((response) => response.url().includes(part)),
    )
    await page.reload()
    await Promise.all(read)
    await page.getByRole('heading', { name: 'Recent tasks' }).waitFor()
    assert.equal(await page.getByText('Needs attention').count(), 0)
    await fail()
    await page.reload()
    await page.getByText('2 tasks failed in the last 24 hours').waitFor()
    const operator = await console.open('/', { as: 'operator' })
    const running = operator.locator('section', { hasText: 'Running now (all users)' })
    await running.getByRole('link', { name: 'All tasks' }).click()
    await operator.waitForURL(/\/tasks\?owner=(\*|%2A)$/)
    await operator.getByRole('link', { name: 'Upscale' }).first().waitFor()
  })

  test('each page has a title of its own, which a navigation changes, and docs lead back', async () => {
    const page = await console.open('/', { as: 'operator' })
    const titles: string[] = []
    const bar = page.getByRole('navigation', { name: 'Pages' }).first()
    await bar.getByRole('link', { name: 'Operations' }).waitFor()
    for (const name of await bar.getByRole('link').allTextContents()) {
      await bar.getByRole('link', { name, exact: true }).click()
      await page.getByRole('heading', { level: 1 }).waitFor()
      // Between two pages it is for a moment that of neither.
      const own = await waitFor(`the title of ${name}`, async () => {
        const title = await page.title()
        return title.endsWith(' · Kiln') && !titles.includes(title) && title
      })
      titles.push(own)
    }
    assert.equal(titles.at(-1), 'Overview · Kiln')
    await page.getByRole('link', { name: 'Tasks', exact: true }).click()
    await page.waitForURL('**/console/tasks')
    await page.getByRole('link', { name: 'New task' }).waitFor()
  })

  test('keys lead through the pages, and rest in fields', inLong, async () => {
    const page = await console.open('/', { as: 'operator' })
    await page.getByRole('link', { name: 'Operations' }).waitFor()
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await page.getByRole('heading', { name: 'Operations' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('go?')
    assert.equal(await page.getByRole('searchbox').inputValue(), 'go?')
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Commands' }).waitFor()
    await page.keyboard.type('acc')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/account')
    // The focus is back in the field, where a letter is a letter.
    await page.getByRole('heading', { name: 'Account' }).click()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
  })

  test(
    'an API key is made, shown once and revoked; an issue is shown at its field',
    inLong,
    async () => {
      const page = await console.open('/account?tab=keys', { as: 'bob' })
      await page.getByRole('button', { name: 'Create API key' }).click()
      await page.getByLabel('Name').fill('nightly')
      await page.getByLabel('Expires').fill('soon')
      await page.keyboard.press('Enter')
      const field = page.getByLabel('Expires')
      await page.getByText('Write a day as YYYY-MM-DD.').waitFor()
      assert.equal(await field.getAttribute('aria-invalid'), 'true')
      await field.fill('')
      await page.keyboard.press('Enter')
      await page.getByText(/^kiln_key_\w{30,}$/).waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
      await page.getByText('nightly').waitFor()
      await assertSound(page)
      await chooseEntry(page, 'More for nightly', 'Revoke')
      await page.getByRole('button', { name: 'Revoke key' }).click()
      await page.getByText('No API keys.').waitFor()
    },
  )

  test('a key shows the days that are left of its last week', inLong, async () => {
    const page = await console.open('/account?tab=keys', { as: 'bob' })
    for (const [name, days] of [
      ['soon', 3.5],
      ['later', 30],
    ] as const) {
      await page.getByRole('button', { name: 'Create API key' }).click()
      await page.getByLabel('Name').fill(name)
      await page.getByLabel('Expires').fill(new Date(Date.now() + days * 86_400_000).toISOString())
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Close' }).click()
    }
    await page.getByRole('row', { name: /soon.*3 days left/ }).waitFor()
    assert.equal(await page.getByText('left', { exact: false }).count(), 1)
    await assertSound(page)
  })

  test('an address that leads to nothing says so', inLong, async () => {
    const page = await console.open('/nothing/here')
    await page.getByRole('heading', { name: 'Page not found' }).waitFor()
    await assertSound(page)
  })
})
