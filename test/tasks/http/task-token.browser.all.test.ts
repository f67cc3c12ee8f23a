import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import type { Browser, Page } from 'playwright-core'

import { ROOT } from '../../../src/local/root.ts'
import { findChromium, NO_CHROMIUM, startChromium, watchPage } from '../../support/browser.ts'
import { expectStatus } from '../../support/client.ts'
import { listBlocks } from '../../support/guide.ts'
import { useReceiver } from '../../support/network.ts'
import { base64 } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'

const service = useService()
const alice = service.client('alice')

const executable = findChromium()
const skip = executable === undefined && NO_CHROMIUM

/** The page of the guide, as a server that has made a task and a token sends it. */
const makePage = async (task: string, token: string): Promise<string> => {
  const guide = await readFile(join(ROOT, 'docs/guides/browser.md'), 'utf8')
  const page = listBlocks(guide).find(({ language }) => language === 'html')?.code ?? ''
  return page
    .replace('http://127.0.0.1:8080', service.baseUrl)
    .replace('{{task}}', task)
    .replace('{{token}}', token)
}

describe('a page of another origin', { skip }, () => {
  let browser: Browser
  let html = ''
  const shop = useReceiver((_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html)
  })

  before(async () => {
    browser = await startChromium(executable ?? '')
  })
  after(() => browser?.close())

  const makeToken = async (id: string): Promise<string> =>
    String(expectStatus(await alice.post(`/tasks/${id}/tokens`, {}), 201).body['token'])

  const open = async (): Promise<{ page: Page; issues: string[] }> => {
    const origin = `http://127.0.0.1:${shop.port}`
    const page = await browser.newPage()
    const issues = watchPage(page, origin, service.baseUrl)
    await page.goto(`${origin}/order`)
    return { page, issues }
  }

  const isSaid = async (page: Page, text: string): Promise<void> =>
    await page.locator('p', { hasText: text }).waitFor()

  test('follows a task by EventSource and shows its result', async () => {
    const picture = { width: 48, height: 32, shade: 9 }
    const id = await alice.createImage({ image: await base64(picture), kiln_start_after: 2 })
    html = await makePage(id, await makeToken(id))
    const { page, issues } = await open()
    await isSaid(page, 'Here it is.')
    const width = `document.querySelector('img').naturalWidth`
    assert.ok(await waitFor('the picture', () => page.evaluate<boolean>(`${width} > 0`)))
    assert.deepEqual(issues, [])
  })

  test('shows a video as one', async () => {
    const id = await alice.createVideo({ duration: 1, resolution: '540p', kiln_start_after: 2 })
    html = await makePage(id, await makeToken(id))
    const { page, issues } = await open()
    await isSaid(page, 'Here it is.')
    await page.locator('video').waitFor()
    const shown = `[document.querySelector('video').src.includes('/files/${id}/'), document.querySelector('img').hidden]`
    assert.deepEqual(await page.evaluate(shown), [true, true])
    assert.deepEqual(issues, [])
  })

  test('says so when the token has ended', async () => {
    const id = await alice.createImage({ kiln_start_after: 3600 })
    html = await makePage(id, await makeToken(id))
    const { page } = await open()
    await isSaid(page, 'It waits for the time')
    await service.sql`update task_token set expires_at = clock_timestamp() where task_id = ${id}`
    await isSaid(page, 'Please reload the page.')
  })

  test('reads nothing else by the token, and by no other credential', async () => {
    const [id, other] = [
      await alice.createImage({ kiln_start_after: 3600 }),
      await alice.createImage({ kiln_start_after: 3600 }),
    ]
    const token = await makeToken(id)
    html = '<!doctype html><title>Shop</title>'
    const { page } = await open()
    const read = async (path: string, credential: string): Promise<unknown> =>
      await page.evaluate(
        async ([url, authorization]) =>
          await fetch(url, { headers: { authorization } }).then(
            (response) => response.status,
            () => 'blocked',
          ),
        [service.baseUrl + path, `Bearer ${credential}`] as const,
      )
    assert.equal(await read(`/tasks/${id}`, token), 200)
    assert.equal(await read(`/tasks/${other}`, token), 403)
    assert.equal(await read('/tasks', token), 'blocked')
    assert.equal(await read(`/tasks/${other}`, await service.token('alice')), 'blocked')
  })
})
