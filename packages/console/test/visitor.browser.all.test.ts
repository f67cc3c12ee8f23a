import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Page, Request } from 'playwright-core'

import { makeRegistry, storeArchive, unique } from '../../../test/registry/http/registry-support.ts'
import { makeLatch, waitFor } from '../../../test/support/wait.ts'
import { assertSound, skip, useConsole, type Visit } from './harness.ts'

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click()

const TABS = {
  account: ['you', 'keys', 'webhooks', 'events'],
  moderation: ['versions', 'failed', 'reports', 'reviews', 'bans', 'log'],
  publisher: ['nodes', 'members', 'tokens', 'trusted', 'endpoints', 'transfers', 'settings'],
}

describe('a first visit to the console', { skip }, () => {
  const console = useConsole()

  test('the example of the first page is repeated by two presses, seen at once, and saved by its kind', async () => {
    const page = await console.open('/')
    await page.getByText('A pack is a Python package that adds custom nodes to ComfyUI').waitFor()
    await page.getByText('Prompt “(warm evening light:1.3) from the left”').waitFor()
    await assertSound(page)
    await press(page, 'Try it as alice')
    await page.getByRole('button', { name: 'Remove Image' }).waitFor()
    await page.waitForURL(/relight$/)
    const prompt = page.getByRole('textbox', { name: 'Prompt' })
    assert.equal(await prompt.inputValue(), '(warm evening light:1.3) from the left')
    const held = makeLatch()
    await page.route(/ai\/image-relight$/, async (route) => {
      await held.opened
      await route.continue()
    })
    await press(page, 'Send')
    await page.getByRole('button', { name: 'Sending…' }).waitFor()
    await page.getByRole('status').getByText('Sending the request').waitFor()
    held.open()
    await page.getByRole('link', { name: 'Open the task' }).waitFor()
    const download = page.waitForEvent('download')
    await page.getByRole('link', { name: /^Download result-1/ }).click()
    assert.match((await download).suggestedFilename(), /^relight-[\da-f]{8}-1\.jpg$/)
  })

  test('a file that is no picture is named at its field before anything is sent', async () => {
    const page = await console.open('/try/relight', { as: 'bob' })
    const choose = (name: string, mimeType: string): Promise<void> =>
      page
        .getByRole('group', { name: 'Image', exact: true })
        .locator('input[type=file]')
        .setInputFiles({ name, mimeType, buffer: Buffer.from('Just words.') })
    await choose('notes.txt', 'text/plain')
    await page.getByRole('alert').getByText('notes.txt is not an image.').waitFor()
    await choose('notes.png', 'image/png')
    await page.getByRole('alert').getByText('notes.png is not an image.').waitFor()
    await page.getByRole('group', { name: 'Samples for Image' }).getByRole('button').first().click()
    await page.getByRole('button', { name: 'Remove Image' }).waitFor()
    assert.equal(await page.getByRole('alert').count(), 0)
  })

  test('a copied text is said to be, or that the browser allows no copy', async () => {
    const page = await console.open('/')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await press(page, 'Copy the request')
    await page.getByRole('button', { name: 'Copied' }).getByText('Copied').waitFor()
    assert.match(await page.evaluate<string>('navigator.clipboard.readText()'), /^curl /)
    await page.evaluate(`Object.defineProperty(navigator, 'clipboard', { value: undefined })`)
    await page.getByRole('tab', { name: 'Python' }).click()
    await press(page, 'Copy the request')
    await page.getByText('select the text instead').waitFor()
  })

  test('who has no publisher is offered one in the middle of the page', async () => {
    const page = await console.open('/publishers', { as: 'carol' })
    const button = page.getByRole('button', { name: 'Create a publisher' })
    const { x = 0, width = 0 } = (await button.boundingBox()) ?? {}
    assert.ok(Math.abs(x + width / 2 - 640) < 20, `at ${x}`)
    await assertSound(page)
  })

  test('a registry with nothing to filter by gives its rows the whole width', async () => {
    const page = await console.open('/registry?q=wqxzvy')
    await page.getByText('0 packs').waitFor()
    await page.getByRole('complementary', { name: 'Filters' }).waitFor({ state: 'detached' })
    const { x = 999 } = (await page.getByText('0 packs').boundingBox()) ?? {}
    assert.ok(x < 100, `at ${x}`)
  })

  test('no page reports an error to the browser, though an icon is missing', async () => {
    const registry = makeRegistry(console.service)
    const owned = await registry.addPublisher({ user: 'alice' })
    const nodeId = unique('iconless')
    const icon = `${console.service.baseUrl}/none.png`
    for (const { id } of [
      await owned.addActive({ nodeId, version: '1.0.0', node: { name: nodeId, icon } }),
      await owned.addFlagged({ nodeId, version: '1.1.0' }),
    ])
      await storeArchive(registry, id)
    const publisher = owned.path
    const visits: [as: string | undefined, paths: string[]][] = [
      [undefined, ['/', '/try', '/registry', `/registry/${nodeId}`, publisher, '/account']],
      [
        'alice',
        [
          ...'/ /try/relight /try/extend /tasks /registry /publishers'.split(' '),
          ...['', '/1.0.0', '/1.1.0'].map((version) => `/registry/${nodeId}${version}`),
          `/registry/${nodeId}/compare/1.0.0...1.1.0`,
          ...TABS.publisher.map((tab) => `${publisher}?tab=${tab}`),
          `${publisher}/publish`,
          `${publisher}/publish?node=${nodeId}&version=1.1.0`,
          ...TABS.account.map((tab) => `/account?tab=${tab}`),
        ],
      ],
      ['operator', ['/operations', ...TABS.moderation.map((tab) => `/moderation?tab=${tab}`)]],
    ]
    for (const [as, paths] of visits) for (const path of paths) await assertQuiet(path, { as })
  })

  const assertQuiet = async (path: string, visit: { as: string | undefined }): Promise<void> => {
    const page = await console.open('/nothing/here', visit as Visit)
    const errors: string[] = []
    // Streams stay open, so the network is never idle.
    const open = new Set<Request>()
    page.on('request', (request) => !request.url().endsWith('stream') && open.add(request))
    page.on('requestfinished', (request) => open.delete(request))
    page.on('requestfailed', (request) => open.delete(request))
    page.on('console', (message) => {
      const { url } = message.location()
      // 503 is the state of a service that is not ready, as on a machine that is slow.
      if (message.type() === 'error' && !url.endsWith('/ready'))
        errors.push(`${message.text()} ${url}`)
    })
    await page.goto(`${console.service.baseUrl}/console${path}`)
    await page.locator('h1').first().waitFor()
    await page.locator('main [aria-label=Loading]').first().waitFor({ state: 'detached' })
    await waitFor(`the requests of ${path}`, () => open.size === 0)
    assert.deepEqual(errors, [], path)
    await page.close()
  }
})
