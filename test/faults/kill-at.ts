import assert from 'node:assert/strict'

import type { FailpointName } from '../../src/platform/process/failpoint.ts'
import type { Client } from '../support/client.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { createTask } from './calls.ts'
import { assertLedger } from './ledger.ts'

export interface Kill {
  service: Service
  client: Client
  /** Tasks of the kills before, to which this one's is added. */
  ids: string[]
  failpoint: FailpointName
  /** The instance until the kill: it works on, or it loses its responses to creations. */
  trouble(kind?: 'works on' | 'loses responses'): void
}

/** Kills the core worker at a failpoint of a task, which then ends well and leaves nothing behind; returns its placements. */
export const killAt = async ({
  service,
  client,
  ids,
  failpoint,
  trouble,
}: Kill): Promise<number> => {
  await service.entry('core').kill()
  const doomed = await service.start('core', { OVERRIDE_FAILPOINT: failpoint })
  if (failpoint === 'upstream.between-polls') trouble('works on')
  if (failpoint === 'upstream.no-response') trouble('loses responses')
  const id = await createTask(client)
  ids.push(id)
  assert.equal(await doomed.end(), 'SIGKILL')
  trouble()
  await service.start('core')
  const tasks = await assertLedger(service, ids)
  assert.deepEqual(
    tasks.filter(({ error_code: code }) => code !== null),
    [],
  )
  await waitFor('nothing is left there', async () => {
    const [left] = await service.database.sql`
      select 1 from placement where task_id = ${id} and cleaned_at is null
    `
    return left === undefined
  })
  const placements = await service.database.sql`select from placement where task_id = ${id}`
  return placements.length
}
