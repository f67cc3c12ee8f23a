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
    const rejected = page.getByRole('row', { name: /^#2 rejected – .*prompt/ })
    await rejected.waitFor()
    await page
      .getByRole('row', { name: /^#0 failed .*An error of this service/ })
      .getByRole('link')
      .waitFor()
    await assertSound(page)
    await page.getByText('Show all').click()
    await page.getByRole('row', { name: /^#1 waiting/ }).waitFor()
    await page.getByRole('button', { name: 'Cancel batch' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel batch' }).click()
    await page.getByRole('row', { name: /^#1 cancelled/ }).waitFor()
    await page.getByRole('button', { name: 'Cancel batch' }).waitFor({ state: 'detached' })
  })

  test('an operation shows what it could not do, and opens from the audit log', async () => {
    const filter = { task_ids: (await listTasks()).map(({ task_id: task }) => task) }
    expectStatus(await carol.post('/operations', { action: 'cancel', filter }), 202)
    const page = await console.open('/tasks/bulk?tab=operations', { as: 'carol' })
    await page.getByText(/could not be/).waitFor()
    await page.getByRole('link', { name: 'Cancel 2 tasks' }).click()
    await page.getByRole('row', { name: /^#0 rejected/ }).waitFor()
    await page.getByRole('row', { name: /^#1 rejected/ }).waitFor()
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
    await log.getByRole('row', { name: /^#0 rejected/ }).waitFor()
  })
})
