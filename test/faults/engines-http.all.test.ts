import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { FailpointName } from '../../src/platform/process/failpoint.ts'
import { makeClient } from '../support/client.ts'
import { startFakeCog, type FakeCog } from '../support/cog/fake.ts'
import { startService, type Service } from '../support/service.ts'
import { use } from '../support/use.ts'
import { waitFor } from '../support/wait.ts'
import { createTask, ENGINE_SOON } from './calls.ts'
import { assertLedger } from './ledger.ts'

/** Lines, and the placements that a task has then: nobody knows whether a request that was about to be sent was. */
const LINES: [FailpointName, placements: number][] = [
  ['comfyui.after-placement', 1],
  ['upstream.before-submit', 2],
  ['upstream.no-response', 1],
  ['upstream.after-response', 1],
  ['upstream.between-polls', 1],
  ['upstream.while-copying', 1],
  ['render.after-output', 1],
]

describe('a worker of an engine by HTTP', () => {
  const stage = use(
    async (): Promise<{ fake: FakeCog; service: Service }> => {
      const fake = await startFakeCog()
      const env = {
        ...ENGINE_SOON,
        ENGINES: 'upscale:http:enhance',
        ENGINES_HTTP: `enhance=${fake.url}`,
      }
      return { fake, service: await startService({ roles: ['api', 'core'], env }) }
    },
    async ({ fake, service }) => {
      await service.stop()
      await fake.close()
    },
  )
  const client = makeClient(
    () => stage.service.baseUrl,
    () => stage.service.token('alice'),
  )
  const ids: string[] = []

  for (const [FAILPOINT, placements] of LINES)
    test(`is killed at ${FAILPOINT}, and the task ends once`, async () => {
      const { service, fake } = stage
      await service.entry('core').kill()
      const doomed = await service.start('core', { OVERRIDE_FAILPOINT: FAILPOINT })
      fake.losesResponses = FAILPOINT === 'upstream.no-response'
      const before = fake.begun.length
      const id = await createTask(client)
      ids.push(id)
      assert.equal(await doomed.ended, 'SIGKILL')
      fake.losesResponses = false
      await service.start('core')
      const tasks = await assertLedger(service, ids)
      assert.deepEqual(
        tasks.filter(({ error_code: code }) => code !== null),
        [],
      )
      const rows = await service.database.sql`select id from placement where task_id = ${id}`
      assert.equal(rows.length, placements)
      assert.equal(fake.begun.length - before, 1, 'it was made once')
      await waitFor('nothing is left there', async () => {
        const [left] = await service.database.sql`
          select 1 from placement where task_id = ${id} and cleaned_at is null
        `
        return left === undefined
      })
    })
})
