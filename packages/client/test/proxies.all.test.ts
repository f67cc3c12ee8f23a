import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeKiln, responseOf } from '../src/index.ts'
import { startImpatientProxy } from '../../../test/support/impatient-proxy.ts'
import type { Impatience } from '../../../test/support/impatient-proxy.ts'
import { useService } from '../../../test/support/service.ts'

const service = useService({ env: { OVERRIDE_VIDEO_TINY: 'true' } })

describe('a wait', { concurrency: true }, () => {
  const WAYS: [impatience: Impatience, ways: RegExp, creations: number][] = [
    ['cuts', /^(stream ){3}(waiting ){3}(plain ?)+$/, 2],
    ['buffers', /^stream (waiting ?)+$/, 1],
    ['gives up', /^stream waiting (plain ?)+$/, 2],
  ]
  for (const [impatience, ways, creations] of WAYS)
    test(`leads to the result of one task behind a proxy that ${impatience}`, async (context) => {
      const proxy = await startImpatientProxy(service.baseUrl, impatience)
      context.after(proxy.close)
      const token = await service.token(impatience.replace(' ', '-'))
      const kiln = makeKiln({ baseUrl: proxy.baseUrl, token, retry: { baseMs: 50 } })
      const model = 'videoq2-turbo'
      const film = { prompt: 'Sea', model, duration: 1, resolution: '540p' } as const
      const ended = await kiln.wait(await kiln.textToVideo(film))
      assert.equal(ended.state, 'succeeded')
      assert.match(proxy.ways.join(' '), ways)
      assert.equal(proxy.creations, creations)
      const direct = makeKiln({ baseUrl: service.baseUrl, token })
      const { tasks } = await responseOf(direct.routes.GET('/tasks'))
      assert.deepEqual(
        tasks.map(({ task_id }) => task_id),
        [ended.id],
      )
    })
})
