import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, describe, test } from 'node:test'

import {
  expectStatus,
  listOf,
  makeClient,
  TEXT,
  type Client,
} from '../../../test/support/client.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { assertSound, skip, useConsole } from './harness.ts'

const PAUSE = '/admin/pauses/owner:carol'
const ERROR = 'An error of this service.'
const PHONE = { as: 'carol', width: 390 }

describe('batches and operations in the console', { skip }, () => {
  const console = useConsole({ alone: true })
  let carol: Client
  let operator: Client

  before(() => {
    const clientOf = (user: string): Client =>
      makeClient(console.service.baseUrl, () => console.service.token(user))
    carol = clientOf('carol')
    operator = clientOf('operator')
  })

  type Task = { task_id: string; prompt?: string }

  /** A batch of two tasks, which wait, and of a request that is rejected. */
  const makeBatch = async (): Promise<void> => {
    expectStatus(await operator.put(PAUSE, { reason: 'Disks are moved' }), 200)
    const requests = ['a river', 'a calm sea', 7].map((prompt) => ({
      path: TEXT,
      body: { prompt, model: 'videoq1' },
    }))
    const labels = { project: 'north' }
    expectStatus(await carol.post('/batches', { requests, labels }), 202)
  }

  const listTasks = async (): Promise<Task[]> => listOf<Task>(await carol.get('/tasks'), 'tasks')

  const failFirst = async (): Promise<void> => {
    const task = await waitFor('a task', async () =>
      (await listTasks()).find(({ prompt }) => prompt === 'a river'),
    )
    const body = { reason: 'Its input is gone' }
    expectStatus(await operator.post(`/admin/tasks/${task.task_id}/fail`, body), 200)
  }

  test('a batch shows its counts and rejected lines, is cancelled, and its rows keep their prompts', async () => {
    await makeBatch()
    await failFirst()
    const page = await console.open('/tasks', { as: 'carol' })
    for (const text of ['a river', 'a calm sea', ERROR, 'project: north'])
      await page.getByText(text).first().waitFor()
    await page.getByText(/the service has paused it/).waitFor()
    await assertSound(page)
    const phone = await console.open('/tasks', PHONE)
    for (const text of ['a river', 'a calm sea', ERROR])
      await phone.getByText(text).first().waitFor()

    await page.getByRole('link', { name: 'Batches and operations' }).click()
    await page.getByText('1 waiting, 1 failed, 1 rejected').waitFor()
    await assertSound(page)
    await page.getByRole('link', { name: '3 requests' }).click()
    const rejected = page.getByRole('row', { name: /^#3 rejected – Prompt must/ })
    await rejected.waitFor()
    await page
      .getByRole('row', { name: /^#1 failed .*An error of this service/ })
      .getByRole('link')
      .waitFor()
    await assertSound(page)
    await page.getByText('Show all').click()
    await page.getByRole('row', { name: /^#2 waiting/ }).waitFor()
    await page.getByRole('button', { name: 'Cancel batch' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel batch' }).click()
    await page.getByRole('row', { name: /^#2 cancelled/ }).waitFor()
    await page.getByRole('button', { name: 'Cancel batch' }).waitFor({ state: 'detached' })
  })

  test('an operation shows what it could not do, and opens from the audit log', async () => {
    const filter = { task_ids: (await listTasks()).map(({ task_id: task }) => task) }
    expectStatus(await carol.post('/operations', { action: 'cancel', filter }), 202)
    const page = await console.open('/tasks/bulk?tab=operations', { as: 'carol' })
    await page.getByText(/could not be/).waitFor()
    await page.getByRole('link', { name: 'Cancel 2 tasks' }).click()
    await page.getByRole('row', { name: /^#1 rejected/ }).waitFor()
    await page.getByText('and 1 more line like this').click()
    await page.getByRole('row', { name: /^#1/ }).getByText('#2').waitFor()
    await assertSound(page)

    expectStatus(await operator.delete(PAUSE), 204)
    const log = await console.open('/moderation?tab=log', { as: 'operator' })
    const sides = { Paused: 'new', Resumed: 'removed' }
    for (const [action, side] of Object.entries(sides)) {
      const row = log.getByRole('row', { name: new RegExp(`${action} .*carol`) }).first()
      const details = row.locator('xpath=following-sibling::tr[1]')
      await row.getByRole('button', { name: 'Details' }).click()
      await details.getByText(side, { exact: true }).first().waitFor()
    }
    await assertSound(log)
    await log
      .getByRole('row', { name: /Began an operation/ })
      .getByRole('link')
      .click()
    await log.getByRole('row', { name: /^#1 rejected/ }).waitFor()
  })

  test('a file is checked, makes a batch, and what was rejected is folded, saved and tried again', async () => {
    const page = await console.open('/tasks/bulk', { as: 'bob' })
    const good = JSON.stringify({ path: TEXT, body: { prompt: 'a filed sea', model: 'videoq1' } })
    const [wrong, other] = [7, 8].map((prompt) =>
      JSON.stringify({ path: TEXT, body: { prompt, model: 'videoq1' } }),
    )
    const choose = async (label: string, text: string): Promise<void> => {
      const chooser = page.waitForEvent('filechooser')
      await page.getByRole('button', { name: label }).click()
      const file = { name: 'orders.jsonl', mimeType: 'text/plain', buffer: Buffer.from(text) }
      await (await chooser).setFiles(file)
    }
    await page.getByText('"path":"/proxy/vidvendor/text2video"').waitFor()
    await choose('New batch from a file', `${good}\n{"path"\n`)
    await page.getByText(/^Line 2: /).waitFor()
    await page.getByText(/no JSON. Nothing was sent/).waitFor()
    await assertSound(page)
    await page.getByRole('button', { name: 'Close' }).click()

    await choose('New batch from a file', [wrong, good, '', other, wrong].join('\n'))
    await page.getByText(/has 4 requests\./).waitFor()
    await page.getByLabel(/^Labels/).fill('project:filed')
    await assertSound(page)
    await page.getByRole('button', { name: 'Start 4 requests' }).click()
    await page.getByText('1 done, 3 rejected').waitFor()
    await page.getByText('done with errors').waitFor()
    const row = page.getByRole('row', { name: /^#1 rejected – Prompt must/ })
    await row.getByText('and 2 more lines like this').click()
    await row.getByText('#3, #4').waitFor()
    assert.equal(await page.getByRole('row', { name: /rejected/ }).count(), 1)
    await assertSound(page)
    const save = async (label: string): Promise<string> => {
      const download = page.waitForEvent('download')
      await page.getByRole('button', { name: label }).click()
      return await readFile(await (await download).path(), 'utf8')
    }
    const results = (await save('Download results')).trim().split('\n')
    const states = results.map((line) => (JSON.parse(line) as { state: string }).state)
    assert.deepEqual(states, ['rejected', 'done', 'rejected', 'rejected'])

    await choose('Choose the file of this batch', good)
    await page.getByText(/has 1 request, and the batch 4 requests/).waitFor()
    await choose('Choose the file of this batch', [wrong, good, other, wrong].join('\n'))
    assert.equal(await save('Download 3 rejected requests'), `${wrong}\n${other}\n${wrong}\n`)
    await page.getByRole('button', { name: 'Retry 3 rejected requests' }).click()
    await page.getByRole('button', { name: 'Start 3 requests' }).click()
    await page.getByRole('heading', { name: '3 requests' }).waitFor()
    await page.getByText('3 rejected', { exact: true }).waitFor()
  })

  test('chosen tasks are run again, and deleted once their number is typed', async () => {
    const bob = makeClient(console.service.baseUrl, () => console.service.token('bob'))
    const ids = [
      await bob.createVideo({ prompt: 'one to repeat' }),
      await bob.createVideo({ prompt: 'two to repeat' }),
    ]
    for (const id of ids) await bob.untilVideoEnded(id)
    const page = await console.open('/tasks?q=to+repeat', { as: 'bob' })
    const rows = page.getByRole('listitem').filter({ hasText: 'to repeat' })
    const dialog = page.getByRole('dialog')
    await rows.nth(1).waitFor()
    await page.getByText('Select all').click()
    assert.equal(await page.getByRole('button', { name: /^Cancel/ }).count(), 0)
    await assertSound(page)
    await page.getByRole('button', { name: 'Resend events of 2 tasks' }).click()
    await dialog.getByText('None of these tasks allows that.').waitFor()
    await dialog.getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Run 2 tasks again' }).click()
    await dialog.getByRole('heading', { name: 'Run 2 tasks again?' }).waitFor()
    await dialog.getByRole('button', { name: 'Run 2 tasks again' }).click()
    await page.getByText('2 tasks run again').waitFor()
    await page.reload()
    await rows.nth(3).waitFor()
    await rows.nth(2).getByRole('checkbox').press(' ')
    await rows.nth(3).getByRole('checkbox').press(' ')
    await page.getByRole('button', { name: 'Delete 2 tasks' }).click()
    await dialog.getByRole('heading', { name: 'Delete 2 tasks?' }).waitFor()
    assert.ok(await dialog.getByRole('button', { name: 'Delete 2 tasks' }).isDisabled())
    await dialog.getByLabel('Type 2 to confirm').fill('2')
    await assertSound(page)
    await dialog.getByRole('button', { name: 'Delete 2 tasks' }).click()
    await page.getByText('2 tasks deleted').waitFor()
    for (const id of ids)
      assert.ok('deleted_at' in expectStatus(await bob.get(`/tasks/${id}`), 200).body)
  })
})
