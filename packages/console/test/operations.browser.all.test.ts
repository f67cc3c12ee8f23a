import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import type { Locator, Page } from 'playwright-core'

import { expectStatus, makeClient, TEXT, type Client } from '../../../test/support/client.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { assertSound, chooseEntry, skip, useConsole } from './harness.ts'

const press = (page: Page | Locator, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click()

/** Fills in the fields of the open form and sends it. */
const send = async (page: Page, action: string, fields: Record<string, string>): Promise<void> => {
  const form = page.getByRole('dialog')
  for (const [name, value] of Object.entries(fields))
    await form.getByLabel(new RegExp(`^${name}( \\(optional\\))?$`)).fill(value)
  await press(form, action)
  await form.waitFor({ state: 'detached' })
}

/** Chooses what is paused, in the open dialog. */
const choose = async (page: Page, what: string): Promise<void> => {
  await page.getByRole('dialog').getByRole('button', { name: /What/ }).click()
  await page.getByRole('option', { name: what, exact: true }).click()
}

describe('operations by hand', { skip }, () => {
  const console = useConsole()
  let bob: Client

  before(() => {
    bob = makeClient(console.service.baseUrl, () => console.service.token('bob'))
  })

  const makeVideos = async (prompts: string[]): Promise<void> => {
    const requests = prompts.map((prompt) => ({
      path: TEXT,
      body: { prompt, model: 'videoq1', kiln_labels: { project: prompt.split(' ')[1] } },
    }))
    const { body } = expectStatus(await bob.post('/batches', { requests }), 202)
    const path = `/batches/${String(body['batch_id'])}`
    await waitFor('its tasks are made', async () => {
      const { counts } = (await bob.get(path)).body as { counts?: { pending: number } }
      return counts?.pending === 0
    })
  }

  test('an admin pauses an owner, whose tasks wait, say so, are cancelled, and go on', async () => {
    const admin = await console.open('/operations', { as: 'operator' })
    await press(admin, 'Pause')
    await choose(admin, 'Owner')
    await send(admin, 'Pause', { Which: 'bob', Reason: 'Disks are moved', Minutes: '90' })
    const row = admin.getByRole('table', { name: 'Pauses' }).getByRole('row', { name: /owner:bob/ })
    await row.getByText('Disks are moved').waitFor()
    await assertSound(admin)

    await makeVideos(['a river', ...Array.from({ length: 60 }, (_, n) => `a calm sea ${n}`)])
    const tasks = await console.open('/tasks', { as: 'bob' })
    await tasks
      .getByText(/the service has paused it/)
      .first()
      .waitFor()
    // What the label hides is not cancelled.
    await tasks.getByRole('searchbox', { name: 'Label' }).fill('project:calm')
    await tasks.getByText('a river').waitFor({ state: 'detached' })
    await tasks.getByText('Select all').click()
    await tasks.getByText('All that match').click()
    await press(tasks, 'Cancel all that match')
    const words = '60 tasks with state waiting, queued, running; label project:calm.'
    await tasks.getByRole('dialog').getByText(words).waitFor()
    await press(tasks.getByRole('dialog'), 'Cancel 60 tasks')
    await tasks.getByText('60 tasks cancelled').waitFor()
    await assertSound(tasks)

    await admin.reload()
    await press(admin, 'Pause')
    await choose(admin, 'Owner')
    await admin.locator('datalist option[value=bob]').waitFor({ state: 'attached' })
    await admin.getByRole('dialog').getByLabel('Which').fill('bob')
    await admin.getByRole('dialog').getByText('Holds 1 task of 1 owner.').waitFor()
    await press(admin.getByRole('dialog'), 'Cancel')

    await press(row, 'Resume')
    await press(admin.getByRole('dialog'), 'Resume')
    await admin.getByText('Nothing is paused').waitFor()
    await tasks.getByRole('searchbox', { name: 'Label' }).fill('project:river')
    await tasks.getByRole('listitem').getByText('done').waitFor()
  })

  test('an admin reads on the page of a task why it waits and what to do', async () => {
    const { service } = console
    const root = makeClient(service.baseUrl, () => service.token('operator'))
    const carol = makeClient(service.baseUrl, () => service.token('carol'))
    expectStatus(await root.put('/admin/pauses/owner:carol', { reason: 'a move' }), 200)
    const id = await carol.createVideo({ prompt: 'a slow sea' })
    const page = await console.open(`/tasks/${id}`, { as: 'operator' })
    await page.getByRole('heading', { name: 'For operators' }).waitFor()
    await page.getByText('Resume owner:carol on the Operations page').waitFor()
    await page.getByText('What is known').click()
    await page.getByText(/^text2video of carol on the engine local, made at /).waitFor()
    await assertSound(page)
    const own = await console.open(`/tasks/${id}`, { as: 'carol' })
    await own.getByRole('heading', { name: 'Timeline' }).waitFor()
    assert.equal(await own.getByText('For operators').count(), 0)
    expectStatus(await root.delete('/admin/pauses/owner:carol'), 204)
    await carol.untilVideoEnded(id)
    await page.getByText('Nothing: it has ended.').waitFor()
  })

  test('no slip pauses the service: nothing is chosen, and everything is typed', async () => {
    const page = await console.open('/operations', { as: 'operator' })
    const form = page.getByRole('dialog')
    const button = form.getByRole('button', { name: 'Pause', exact: true })
    await press(page, 'Pause')
    await form.waitFor()
    await page.keyboard.press('Enter')
    await form.getByLabel('Reason').fill('a slip')
    await page.keyboard.press('Enter')
    assert.ok(await button.isDisabled())
    await choose(page, 'Kind of task')
    assert.ok(await button.isDisabled())
    await form.getByRole('button', { name: /Which/ }).click()
    await page.getByRole('option', { name: 'Relight', exact: true }).click()
    await form.getByText('Holds 0 tasks of 0 owners.').waitFor()
    await choose(page, 'Everything')
    await form.getByText(/^Holds/).waitFor()
    for (const word of ['', 'al', 'All']) {
      await form.getByLabel('Type all to confirm').fill(word)
      await page.keyboard.press('Enter')
      assert.ok(await button.isDisabled())
    }
    await assertSound(page)
    await form.getByLabel('Type all to confirm').fill('all')
    await button.click()
    const row = page
      .getByRole('table', { name: 'Pauses' })
      .getByRole('row', { name: /^all a slip/ })
    await press(row, 'Resume')
    await press(form, 'Resume')
    await page.getByText('Nothing is paused').waitFor()
  })

  test('an admin sets and resets the limits of an owner', async () => {
    const page = await console.open('/operations', { as: 'operator' })
    await press(page, 'Set limits')
    const limits = { Owner: 'carol', 'Open tasks': '12', Credits: '5000', Note: 'a course' }
    await send(page, 'Set limits', limits)
    const table = page.getByRole('table', { name: 'Limits of owners' })
    const row = table.getByRole('row', { name: /carol a course/ })
    await row.getByText('0 of 5,000').waitFor()
    await row.getByText('0 of 12').waitFor()
    await row.getByText('0 used').first().waitFor()
    await chooseEntry(row, 'More for carol', 'Change')
    await send(page, 'Set limits', { 'Open tasks': '20' })
    await row.getByText('0 of 20').waitFor()
    await row.getByText('0 of 5,000').waitFor()
    await assertSound(page)
    await chooseEntry(row, 'More for carol', 'Reset')
    await press(page.getByRole('dialog'), 'Reset')
    await page.getByText('All owners have the default limits').waitFor()
  })

  test('an admin reads the rates of the last hour, with a way to what failed', async () => {
    const { service } = console
    const root = makeClient(service.baseUrl, () => service.token('operator'))
    const carol = makeClient(service.baseUrl, () => service.token('carol'))
    const done = await carol.createVideo({ prompt: 'a short sea' })
    await carol.untilVideoEnded(done)
    const failed = await carol.createVideo({ prompt: 'no sea', kiln_start_after: 3600 })
    expectStatus(await root.post(`/admin/tasks/${failed}/fail`, { reason: 'a test' }), 200)
    const page = await console.open('/operations', { as: 'operator' })
    const row = page
      .getByRole('table', { name: 'Last hour' })
      .getByRole('row', { name: /^Text to video [\d.]+ \d+ / })
    await row
      .getByText(/^\S+ m?s · \S+ m?s$/)
      .last()
      .waitFor()
    await assertSound(page)
    await row.getByRole('link', { name: /^\d+ \(\d+ %\)$/ }).click()
    await page.getByText('no sea').first().waitFor()
    assert.equal(await page.getByText('a short sea').count(), 0)
  })

  test('an admin subscribes to notices of the platform', async () => {
    const page = await console.open('/operations', { as: 'operator' })
    const url = 'https://chat.example.com/hook'
    await press(page, 'Add webhook subscription')
    await page.getByRole('dialog').getByRole('button', { name: /Form/ }).click()
    await page.getByRole('option', { name: 'Slack' }).click()
    await page.getByRole('dialog').getByLabel('URL', { exact: true }).fill(url)
    await press(page.getByRole('dialog'), 'Add subscription')
    await page.getByRole('region', { name: 'secret' }).waitFor()
    await press(page, 'Close')
    await page.getByRole('heading', { name: url }).waitFor()
    await page.getByText('breaker.opened').waitFor()
    await assertSound(page)
  })

  test('work that no worker takes is the first thing that an admin reads', async () => {
    const { service } = console
    const page = await console.open('/operations', { as: 'operator' })
    await page.getByText('Nothing needs attention.').waitFor()
    const media = service.entry('media')
    media.signal('SIGTERM')
    await media.end()
    const carol = makeClient(service.baseUrl, () => service.token('carol'))
    const id = await carol.createVideo({ prompt: 'nobody makes it' })
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor()
    await page.getByRole('alert').getByText(/media/).first().waitFor()
    await assertSound(page)
    const home = await console.open('/', { context: page.context() })
    await home
      .getByRole('link', { name: /^Operations/ })
      .last()
      .waitFor()
    await service.start('media')
    await carol.untilVideoEnded(id)
    await page.getByText('Nothing needs attention.').waitFor()
  })
})
