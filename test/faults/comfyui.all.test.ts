import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'
import type { FailpointName } from '../../src/platform/process/failpoint.ts'
import { startFakeComfy, type FakeComfy } from '../support/comfyui/fake.ts'
import { makeClient, VIDEO_API } from '../support/client.ts'
import { base64 } from '../support/pictures.ts'
import { startService, type Service } from '../support/service.ts'
import { use } from '../support/use.ts'
import { HEARTBEAT } from './calls.ts'
import { killAt, type Kill } from './kill-at.ts'

/** A real ComfyUI in place of the fake. */
const REAL = process.env['COMFYUI_URL']

const LINES: FailpointName[] = [
  'comfyui.after-placement',
  'upstream.before-submit',
  'upstream.no-response',
  'upstream.after-response',
  'upstream.between-polls',
  'upstream.while-copying',
  'render.after-output',
  'comfyui.before-clean-up',
]

describe('a worker of a fleet of ComfyUI', () => {
  const stage = use(
    async (): Promise<{ fake: FakeComfy; service: Service }> => {
      const fake = await startFakeComfy()
      const env = {
        ...HEARTBEAT,
        ENGINES: 'upscale:comfyui,text2video:comfyui',
        COMFYUI_URLS: `gpu1=${REAL ?? fake.url}`,
        COMFYUI_TEMPLATES: join(ROOT, 'deploy/comfyui/templates'),
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

  for (const failpoint of LINES)
    test(`is killed at ${failpoint}, and the task ends once`, async (t) => {
      if (REAL !== undefined && failpoint === 'upstream.no-response')
        return t.skip('only the fake loses a response')
      const { service, fake } = stage
      const trouble: Kill['trouble'] = (kind) => {
        const loses = kind === 'loses responses'
        fake.intercept = (request) => (loses && request === 'POST /prompt' ? 'lose' : undefined)
        if (kind === 'works on') fake.hold()
        else fake.release()
      }
      const placements = await killAt({ service, client, ids, failpoint, trouble })
      assert.equal(placements, 1, 'it was placed once')
    })

  test('renders a video, with a cover and without metadata', async () => {
    const { body } = await client.post(`${VIDEO_API}/text2video`, {
      model: 'videoq1',
      prompt: 'a secret sea',
      images: [await base64({ width: 64, height: 48 })],
    })
    const ended = await client.untilVideoEnded(String(body['task_id']))
    assert.equal(ended.state, 'success', JSON.stringify(ended))
    const [{ url, cover_url: cover, video } = assert.fail()] = ended.creations
    assert.equal((await fetch(cover)).status, 200)
    const bytes = Buffer.from(await (await fetch(url)).arrayBuffer())
    assert.ok(!bytes.includes('secret'))
    assert.ok(!bytes.includes('class_type'))
    assert.deepEqual(video, { duration: 5, fps: 24, resolution: { width: 64, height: 48 } })
  })
})
