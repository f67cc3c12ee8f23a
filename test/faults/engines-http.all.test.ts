import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { FailpointName } from '../../src/platform/process/failpoint.ts'
import { makeClient } from '../support/client.ts'
import { startFakeCog, type FakeCog } from '../support/cog/fake.ts'
import { startService, type Service } from '../support/service.ts'
import { use } from '../support/use.ts'
import { ENGINE_SOON } from './calls.ts'
import { killAt, type Kill } from './kill-at.ts'

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

  for (const [failpoint, placements] of LINES)
    test(`is killed at ${failpoint}, and the task ends once`, async () => {
      const { service, fake } = stage
      const trouble: Kill['trouble'] = (kind) => {
        fake.losesResponses = kind === 'loses responses'
        if (kind === 'works on') fake.hold()
        else fake.release()
      }
      const before = fake.begun.length
      assert.equal(await killAt({ service, client, ids, failpoint, trouble }), placements)
      assert.equal(fake.begun.length - before, 1, 'it was made once')
    })
})
