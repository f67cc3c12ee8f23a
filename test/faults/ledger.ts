import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'

import { checkTask } from '../nemesis/check.ts'
import { listWrongSums, readTasks, type TaskRow } from '../nemesis/rows.ts'
import { sha256Of } from '../support/digest.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'

/**
 * Waits until every task of the service has ended, then asserts what holds of each: the ids are the only tasks there
 * are, sequences are gapless, moves legal, times in order, one end, credits exact; files are whole, and nothing else is
 * left.
 */
export const assertLedger = async (service: Service, ids: string[]): Promise<TaskRow[]> => {
  await waitFor('all tasks have ended', () => haveEnded(service))
  const tasks = await assertRows(service)
  assert.deepEqual(tasks.map((task) => task.id).toSorted(), ids.toSorted())
  await waitFor('only results are left', async () => await hasOnlyResults(service, tasks))
  for (const { results } of tasks)
    for (const { storageKey, sha256 } of results)
      assert.equal(sha256Of(await readFile(join(service.storagePath, storageKey))), sha256)
  return tasks
}

const haveEnded = async ({ database: { sql } }: Service): Promise<boolean> => {
  const open = await sql`select from task where ended_at is null`
    // A test that has just killed the server asks again.
    .catch(() => [undefined])
  return open.length === 0
}

/** Asserts what holds of the rows of every task that has ended, and of the sums of their owners. */
export const assertRows = async ({ database: { sql } }: Service): Promise<TaskRow[]> => {
  const tasks = await readTasks(sql)
  assert.deepEqual(tasks.flatMap(checkTask), [])
  assert.deepEqual(await listWrongSums(sql), [])
  return tasks
}

const hasOnlyResults = async (service: Service, tasks: TaskRow[]): Promise<boolean> => {
  const files = (await service.listFiles()).map((file) => relative(service.storagePath, file))
  const expected = tasks.flatMap(({ results, thumbnail }) => [
    ...results.map((result) => result.storageKey),
    ...(thumbnail === null ? [] : [thumbnail]),
  ])
  const found = files.filter((file) => file.startsWith('results/'))
  return found.toSorted().join() === expected.toSorted().join()
}
