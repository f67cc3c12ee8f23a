import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import {
  assertMembers,
  columnsOf,
  expectStatus,
  IMAGE_API,
  TEXT,
  UPSCALE,
} from '../../support/client.ts'
import { base64 } from '../../support/pictures.ts'
import { makeUpstreamSettings, useService } from '../../support/service.ts'
import { startDoneUpstream, type FakeUpstream } from '../../support/upstream.ts'
import { waitFor } from '../../support/wait.ts'
import { linesOf, postBatch, postOperation, untilBulkEnded } from '../../tasks/http/bulk-support.ts'

const bodyOf = (properties: object) => ({
  post: { requestBody: { content: { 'application/json': { schema: { properties } } } } },
})

const DOCUMENT = {
  openapi: '3.1.0',
  paths: {
    '/v9/image-upscaler': bodyOf({
      steps: { type: 'integer', minimum: 1, maximum: 50, default: 30 },
      sampler: { type: 'string', enum: ['euler', 'heun'] },
      // Of the interface, whatever its upstream says.
      scale_factor: { type: 'integer' },
      image: { type: 'string' },
    }),
    '/v9/image-relight': bodyOf({ steps: { type: 'integer' }, prompt: { type: 'string' } }),
    '/proxy/vidvendor/text2video': bodyOf({ camera: { type: 'string', maxLength: 9 } }),
  },
}

let upstream: FakeUpstream
const service = useService(
  async () => {
    upstream = await startDoneUpstream({ document: DOCUMENT })
    return {
      roles: ['api', 'core'],
      env: {
        ...makeUpstreamSettings(upstream.url, 'key'),
        VENDOR_IMAGE_URL: `${upstream.url}|prefix=/v9`,
        ENGINES: 'relight:local',
      },
    }
  },
  async () => {
    await waitFor('the api knows the members', async () => {
      const body = { image: await base64(), steps: 99 }
      return (await client.post(`${UPSCALE}?dry_run=true`, body)).status === 400
    })
  },
)
const client = service.client('alice')

/** The bodies that the upstream was sent, without their images. */
const sent = (): object[] =>
  upstream.asked
    .filter(({ method }) => method === 'POST')
    .map(({ body: { image: _image, ...values } }) => values)

after(() => upstream.close())

describe('members that an upstream takes beside the interface', { concurrency: false }, () => {
  test('are passed on, and are part of the request', async () => {
    const body = { image: await base64(), steps: 12, sampler: 'heun' }
    const key = { 'idempotency-key': 'members' }
    const made = expectStatus(await client.post(UPSCALE, body, key), 200)
    const id = made.body.data.task_id
    assert.equal(made.headers.get('ignored-fields'), null)
    expectStatus(await client.post(UPSCALE, body, key), 200)
    const other = { ...body, steps: 13 }
    expectStatus(await client.post(UPSCALE, other, key), 422, 'idempotency_mismatch')
    assert.equal((await client.untilEnded('image-upscaler', id)).status, 'COMPLETED')
    const isSame = (values: object): boolean => 'steps' in values && values.steps === 12
    assertMembers(sent().find(isSame), { scale_factor: '2x', steps: 12, sampler: 'heun' })
    const { request } = expectStatus(await client.get(`/tasks/${id}`), 200).body as unknown as {
      request: { body: object }
    }
    assertMembers(request.body, { steps: 12, sampler: 'heun' })
    const [row] = await service.database.sql`
      select settings ? 'image' as "hasImage" from task where id = ${id}
    `
    assert.equal(row?.['hasImage'], false)
    const operation = await postOperation(client, 'run_again', { task_ids: [id] })
    assert.equal((await untilBulkEnded(client, operation)).counts['done'], 1)
    const [line] = await linesOf(client, operation)
    await client.untilEnded('image-upscaler', line?.new_task_id ?? '')
    const [first, again] = sent().filter(isSame)
    assert.deepEqual(again, first)
  })

  test('are as its document says, and no others', async () => {
    const image = await base64()
    const wrong = expectStatus(
      await client.post(UPSCALE, { image, steps: 51, sampler: 'other', scale_factor: 3 }),
      400,
      'validation_failed',
    )
    assert.deepEqual(
      wrong.body.details?.map((text) => text.split(',')[0]),
      [
        '/scale_factor must be one of 2x',
        '/steps must be a whole number from 1 to 50',
        '/sampler must be one of euler',
      ],
    )
    const ignored = await client.create(UPSCALE, { image, unknown: 1, steps: 2 })
    assert.equal(ignored.headers.get('ignored-fields'), '/unknown')
    expectStatus(await client.post(UPSCALE, { image, sampelr: 'heun' }), 400, 'validation_failed')
  })

  test('are those of a video, too', async () => {
    const id = await client.createVideo({ prompt: 'a sea', camera: 'left' })
    assert.equal((await client.untilVideoEnded(id)).state, 'success')
    const values = sent().find((one) => 'camera' in one)
    assertMembers(values, { camera: 'left', prompt: 'a sea' })
    const long = { prompt: 'a sea', camera: 'much too long' }
    expectStatus(await client.post(TEXT, long), 400, 'validation_failed')
  })

  test('may be in a batch, which names what nothing reads', async () => {
    const image = await base64()
    const requests = [{ steps: 7 }, { steps: 0 }, { unknown: 1 }].map((more) => ({
      path: UPSCALE,
      body: { image, ...more },
    }))
    const path = await postBatch(client, { requests })
    await untilBulkEnded(client, path)
    const lines = await linesOf(client, path)
    assert.deepEqual(columnsOf(lines, 'state', 'ignored_fields'), [
      ['done', undefined],
      ['rejected', undefined],
      ['done', ['/unknown']],
    ])
    assert.ok(sent().some((values) => 'steps' in values && values.steps === 7))
  })

  test('are no members where another engine has the tasks of the kind', async () => {
    const made = await client.create(`${IMAGE_API}/image-relight`, {
      image: await base64(),
      prompt: 'from the left',
      steps: 3,
    })
    assert.equal(made.headers.get('ignored-fields'), '/steps')
    const { body } = expectStatus(await client.get(`/tasks/${made.body.data.task_id}`), 200)
    assert.ok(!JSON.stringify(body).includes('steps'))
  })

  test('are in the description of the service', async () => {
    const { paths, components } = expectStatus(await client.get('/openapi.json'), 200)
      .body as unknown as {
      components: { schemas: Record<string, object> }
      paths: Record<string, ReturnType<typeof bodyOf>>
    }
    const text = JSON.stringify(paths[UPSCALE]?.post.requestBody)
    for (const part of ['"steps":{', '"maximum":50', '"euler"', 'kiln_labels'])
      assert.ok(text.includes(part), part)
    assert.match(JSON.stringify(components.schemas['TextToVideoBody']), /"camera":/)
  })
})
