import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { BrowserContext, Page } from 'playwright-core'

import { makeClient } from '../../../test/support/client.ts'
import { makeLatch, waitFor } from '../../../test/support/wait.ts'
import { skip, useConsole } from './harness.ts'

const SEVEN = 7

describe('tabs of one browser', { skip }, () => {
  const console = useConsole()

  const signedIn = (page: Page, user: string): Promise<void> =>
    page.getByRole('button', { name: `Signed in as ${user}` }).waitFor()

  /** Counts the requests for tokens of a context from now on. */
  const countTokens = (context: BrowserContext): (() => number) => {
    let count = 0
    context.on('request', (request) => (count += Number(request.url().endsWith('/tokens'))))
    return () => count
  }

  test('a second tab is signed in without asking, keeps no token, and goes on when the first is closed', async () => {
    const page = await console.open('/account')
    await page.getByRole('button', { name: 'Sign in as alice' }).click()
    await signedIn(page, 'alice')
    const context = page.context()
    const tokens = countTokens(context)
    const other = await console.open('/tasks', { context })
    await signedIn(other, 'alice')
    await other.getByRole('link', { name: 'New task' }).waitFor()
    assert.equal(tokens(), 0)
    const kept = await other.evaluate<string>(
      'JSON.stringify([{ ...sessionStorage }, { ...localStorage }, document.cookie])',
    )
    assert.doesNotMatch(kept, /eyJ/)
    await page.close()
    await other.reload()
    await signedIn(other, 'alice')
  })

  test('one tab that signs in again signs in the others', async () => {
    const page = await console.open('/')
    const other = await console.open('/account', { context: page.context() })
    await other.getByRole('button', { name: 'Sign in as bob' }).click()
    for (const tab of [page, other]) await signedIn(tab, 'bob')
  })

  test('a rejected token is renewed by one tab for all, once the service gives one', async () => {
    const page = await console.open('/account', { as: 'alice' })
    await signedIn(page, 'alice')
    const context = page.context()
    const other = await console.open('/account', { context })
    await signedIn(other, 'alice')
    let [rejected, lost] = [0, 0]
    const renewed = makeLatch()
    await context.route('**/development/tokens', async (route) => {
      lost += 1
      if (lost < 4) return await route.abort()
      renewed.open()
      await route.continue()
    })
    await context.route('**/users/api-keys*', async (route) => {
      const isFirst = rejected === 0
      rejected += 1
      const body = JSON.stringify({ error: 'unauthorized', message: 'No.' })
      await (isFirst
        ? route.fulfill({ status: 401, contentType: 'application/json', body })
        : route.continue())
    })
    await page.getByRole('tab', { name: 'API keys' }).click()
    await page.getByText('Your session cannot be renewed right now.').waitFor()
    await renewed.opened
    await page.getByText('No API keys.').waitFor()
    for (const tab of [page, other]) {
      await signedIn(tab, 'alice')
      assert.equal(await tab.getByRole('dialog').count(), 0)
    }
    assert.equal(lost, 4)
  })

  test('seven tabs load and have one stream; another takes it over when that tab is closed', async () => {
    const first = await console.open('/account', { as: 'carol' })
    const context = first.context()
    const opened: Page[] = []
    context.on('request', (request) => {
      if (request.url().endsWith('/tasks/stream')) opened.push(request.frame().page())
    })
    await first.goto(`${console.service.baseUrl}/console/tasks`)
    const tabs = [first]
    while (tabs.length < SEVEN) tabs.push(await console.open('/tasks', { context }))
    for (const tab of tabs) {
      await tab.getByRole('link', { name: 'New task' }).waitFor()
      await tab.locator('main [aria-label=Loading]').first().waitFor({ state: 'detached' })
    }
    await waitFor('a stream', () => opened.length > 0)
    const token = await console.service.token('carol')
    const carol = makeClient(console.service.baseUrl, token)
    const make = async (): Promise<void> => {
      const body = { model: 'videoq2-pro', prompt: 'a wave', duration: 4, resolution: '540p' }
      assert.equal((await carol.post('/proxy/vidvendor/text2video', body)).status, 200)
    }
    const seen = async (of: readonly Page[], count: RegExp): Promise<void> => {
      for (const tab of of) await tab.getByRole('button', { name: count }).waitFor()
    }
    await make()
    await seen(tabs, /^1 new task/)
    assert.deepEqual(opened.length, 1)
    await opened[0]?.close()
    const rest = tabs.filter((tab) => tab !== opened[0])
    await waitFor('another stream', () => opened.length > 1)
    await make()
    await seen(rest, /^2 new tasks/)
    assert.equal(opened.length, 2)
    assert.ok(rest.includes(opened[1] as Page))
  })
})
