import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { request as httpRequest } from 'node:http'
import { after, before, describe, test } from 'node:test'

import sharp from 'sharp'
import type { Static } from 'typebox'

import { makeSigner } from '../../../src/platform/adapters/signing.ts'
import type { Operations } from '../../../src/tasks/domain/operations.ts'
import {
  IMAGE_API,
  IMAGE_URL,
  UPSCALE,
  atOnce,
  expectStatus,
  makeClient,
  pluck,
} from '../../support/client.ts'
import type { Client, HttpResponse, TaskRecord } from '../../support/client.ts'
import { startReceiver, type Receiver } from '../../support/network.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'

const RELIGHT = `${IMAGE_API}/image-relight`
const PRECISION = `${IMAGE_API}/image-upscaler-precision-v2`
const SKIN = `${IMAGE_API}/skin-enhancer`
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/

/** Changes the signature of a link of ours. */
const forge = (link: string): string =>
  link.replace(/signature=./, (found) => `signature=${found.endsWith('_') ? 'A' : '_'}`)

const signingKey = randomBytes(32).toString('base64')

// The media worker comes later: until then every task waits in CREATED.
const service = useService({
  roles: ['api', 'core'],
  env: {
    SIGNING_KEYS: signingKey,
    ADMIN_SUBJECTS: 'root',
    // A fetch that never ends is stopped by a cancel alone.
    OVERRIDE_IMAGE_URL_TIMEOUT_SECONDS: '3600',
  },
})
const { sql } = service

const createId = (client: Client, path = UPSCALE, body?: object): Promise<string> =>
  client.createImage(body, path)

/** Creates a task of a user of its own. */
const createTask = async (path = UPSCALE, body?: object) => {
  const client = service.client()
  const id = await createId(client, path, body)
  return { client, id, path: `${UPSCALE}/${id}` }
}

const settingsOf = async (id: string): Promise<unknown> =>
  (await sql<{ settings: unknown }[]>`select settings from task where id = ${id}`)[0]?.settings

const CREATIONS = [
  ['image-relight', 'image-relight'],
  ['image-upscaler', 'image-upscaler'],
  ['image-upscaler-precision-v2', 'image-upscaler-precision-v2'],
  ['skin-enhancer/flexible', 'skin-enhancer'],
  ['skin-enhancer/creative', 'skin-enhancer'],
  ['skin-enhancer/faithful', 'skin-enhancer'],
] as const

describe('a creation', () => {
  for (const [path, family] of CREATIONS)
    test(`a creation of ${path} returns the record and where to read it`, async () => {
      const client = service.client()
      const { headers, body } = await client.create(`${IMAGE_API}/${path}`, { image: IMAGE_URL })
      const { task_id: id, ...rest } = body.data
      assert.match(id, UUID)
      const {
        warnings,
        waits_for: wait = '',
        ...plain
      } = rest as typeof rest & { waits_for?: string }
      // The workers of a slow machine may not have said yet, or lately, that they live.
      assert.match(wait, /^$|no worker serves its engine now/)
      assert.deepEqual(plain, { status: 'CREATED', generated: [] })
      const said =
        path === 'image-relight' && !('TEST_UPSTREAM_URL' in process.env)
          ? ['there is no prompt']
          : undefined
      assert.deepEqual(
        warnings?.map((warning) => warning.split(',')[0]),
        said,
      )
      assert.deepEqual((await client.get(`/tasks/${id}`)).body['warnings'], warnings)
      const location = headers.get('location') ?? ''
      assert.equal(location, `${service.baseUrl}${IMAGE_API}/${family}/${id}`)
      assert.equal(headers.get('x-credits-used'), '0')
      assert.equal(headers.get('x-estimated-duration-seconds'), '10')
      const read = await client.get(location.slice(service.baseUrl.length))
      const { waits_for: _, ...data } = read.body['data'] as { waits_for?: string }
      assert.deepEqual(data, { task_id: id, ...(warnings && { warnings }), ...plain })
    })

  test('warns of an animation, of which the local engine takes the first frame', async () => {
    const frames = [await makePicture(), await makePicture({ shade: 9 })]
    const moving = await sharp(frames, { join: { animated: true } })
      .gif()
      .toBuffer()
    const client = service.client()
    const { body } = await client.create(UPSCALE, { image: moving.toString('base64') })
    const isLocal = !('TEST_UPSTREAM_URL' in process.env)
    const warning = '/image is an animation of 2 frames: only the first is used'
    assert.deepEqual(body.data.warnings, isLocal ? [warning] : undefined)
    const id = body.data.task_id
    assert.deepEqual((await client.get(`${UPSCALE}/${id}`)).body, body)
    assert.deepEqual((await client.get(`/tasks/${id}`)).body['warnings'], body.data.warnings)
  })

  test('estimates the time of a picture whose size is known', async () => {
    const image = await base64({ width: 500, height: 400 })
    const { headers } = await service.client().create(UPSCALE, { image, scale_factor: '4x' })
    assert.match(headers.get('x-estimated-duration-seconds') ?? '', /^[1-9]\d{0,4}$/)
  })

  const DEFAULTS: [string, object, object][] = [
    [
      RELIGHT,
      {},
      {
        light_transfer_strength: 100,
        interpolate_from_original: false,
        change_background: true,
        preserve_details: true,
        style: 'standard',
        advanced_settings: {
          whites: 50,
          blacks: 50,
          brightness: 50,
          contrast: 50,
          saturation: 50,
          fixed_generation: false,
          engine: 'automatic',
          transfer_light_a: 'automatic',
          transfer_light_b: 'automatic',
        },
      },
    ],
    [
      UPSCALE,
      { prompt: 'sea', hdr: 3.5, other: 'x' },
      {
        scale_factor: '2x',
        prompt: 'sea',
        creativity: 0,
        hdr: 3.5,
        resemblance: 0,
        fractality: 0,
        engine: 'automatic',
        optimized_for: 'standard',
      },
    ],
    [
      PRECISION,
      { scale_factor: 5.0 },
      { scale_factor: 5, flavor: 'photo', sharpen: 7, smart_grain: 7, ultra_detail: 30 },
    ],
    [`${SKIN}/flexible`, {}, { sharpen: 0, smart_grain: 2, optimized_for: 'enhance_skin' }],
    [`${SKIN}/creative`, { skin_detail: 5 }, { sharpen: 0, smart_grain: 2 }],
    [`${SKIN}/faithful`, { sharpen: 0 }, { sharpen: 0, smart_grain: 2, skin_detail: 80 }],
  ]
  for (const [path, given, expected] of DEFAULTS)
    test(`at ${path} stores what was given and the defaults of the rest`, async () => {
      const client = service.client()
      assert.deepEqual(await settingsOf(await createId(client, path, given)), expected)
    })

  test('takes null for absent at every depth, and an empty prompt', async () => {
    const client = service.client()
    const absent = {
      prompt: '',
      style: null,
      webhook_url: null,
      transfer_light_from_lightmap: null,
      transfer_light_from_reference_image: IMAGE_URL,
      light_transfer_strength: null,
      advanced_settings: { whites: null, engine: null },
    }
    const id = await createId(client, RELIGHT, absent)
    const other = await createId(client, RELIGHT, { advanced_settings: null })
    assert.deepEqual(await settingsOf(id), await settingsOf(other))
  })

  test('a creation reports all issues, each once, in the order of the documentation', async () => {
    const { status, body } = await service.client().post(RELIGHT, {
      advanced_settings: { transfer_light_b: 'x', engine: 5, contrast: 101, whites: '50' },
      style: '',
      preserve_details: 1,
      change_background: 'yes',
      interpolate_from_original: 0,
      light_transfer_strength: -1,
      transfer_light_from_reference_image: 'https://10.0.0.1/',
      transfer_light_from_lightmap: 'QUJD',
      prompt: '(a:2)',
      webhook_url: 'http://example.com/',
      image: 5,
    })
    assert.deepEqual([status, body.error], [400, 'validation_failed'])
    assert.deepEqual(
      body.details?.map((detail) => detail.split(/[ :]/)[0]),
      [
        '/image',
        '/webhook_url',
        '/prompt',
        '/transfer_light_from_lightmap',
        '/transfer_light_from_reference_image',
        '/transfer_light_from_reference_image',
        '/light_transfer_strength',
        '/interpolate_from_original',
        '/change_background',
        '/preserve_details',
        '/style',
        '/advanced_settings/whites',
        '/advanced_settings/contrast',
        '/advanced_settings/engine',
        '/advanced_settings/transfer_light_b',
      ],
      body.details?.join('\n'),
    )
    assert.equal(body.message, body.details?.[0])
  })

  test('the error of a rejected address shows neither its query nor its password', async () => {
    const { body } = await service
      .client()
      .post(UPSCALE, { image: 'https://user:hush@images.example.com/a.png?token=hush' })
    assert.equal(body.error, 'url_refused')
    assert.doesNotMatch(JSON.stringify(body), /hush/)
  })

  test('that is rejected after its first picture was stored leaves no file', async () => {
    const client = service.client()
    const before = await service.listFiles()
    const { body } = await client.post('/customers/storage', { file_name: 'never-sent.png' })
    const link = (body as unknown as Links).download_url
    const rejected = await client.post(RELIGHT, {
      image: await base64(),
      transfer_light_from_lightmap: link,
    })
    assert.deepEqual([rejected.status, rejected.body.error], [400, 'url_refused'])
    assert.deepEqual(await service.listFiles(), before)
  })
})

describe('the list of a family', () => {
  test('has the tasks made under it, newest first, and nobody else’s', async () => {
    const client = service.client()
    await createId(service.client())
    const upscales = [await createId(client), await createId(client), await createId(client)]
    const precise = await createId(client, PRECISION)
    const skins: string[] = []
    for (const mode of ['flexible', 'creative', 'faithful'])
      skins.push(await createId(client, `${SKIN}/${mode}`))
    const list = async (path: string): Promise<unknown> => (await client.get(path)).body.data
    const rows = (ids: string[]) =>
      ids.toReversed().map((task_id) => ({ task_id, status: 'CREATED' }))
    assert.deepEqual(await list(UPSCALE), rows(upscales))
    assert.deepEqual(await list(PRECISION), rows([precise]))
    assert.deepEqual(await list(SKIN), rows(skins))
    assert.deepEqual(await list(RELIGHT), [])
  })

  test('comes in pages, and is empty past its end', async () => {
    const client = service.client()
    const ids: string[] = []
    for (let made = 0; made < 21; made += 1) ids.unshift(await createId(client))
    const page = async (query: string): Promise<string[]> => {
      const { body } = await client.get(`${UPSCALE}?${query}`)
      return (body.data as unknown as TaskRecord[]).map(({ task_id: id }) => id)
    }
    assert.deepEqual(await page(''), ids.slice(0, 20))
    assert.deepEqual(await page('page=2'), ids.slice(20))
    assert.deepEqual(await page('page=3'), [])
    assert.deepEqual(await page('page=1000000&per_page=100'), [])
    assert.deepEqual(await page('per_page=8&page=2&other=1'), ids.slice(8, 16))
    assert.deepEqual(await page('per_page=100'), ids)
  })
})

describe('the status of a task', () => {
  const SIBLINGS: [string, string[], string[]][] = [
    [RELIGHT, ['image-relight'], ['image-upscaler', 'skin-enhancer']],
    [UPSCALE, ['image-upscaler', 'image-upscaler-precision-v2'], ['image-relight']],
    [PRECISION, ['image-upscaler', 'image-upscaler-precision-v2'], ['skin-enhancer']],
    [`${SKIN}/flexible`, ['skin-enhancer'], ['image-relight', 'image-upscaler']],
    [`${SKIN}/faithful`, ['skin-enhancer'], ['image-upscaler-precision-v2']],
  ]
  for (const [path, responses, others] of SIBLINGS)
    test(`of ${path} is read under ${responses.join(' and ')} only`, async () => {
      const { client, id } = await createTask(path)
      for (const family of responses) {
        const { status, body } = await client.get(`${IMAGE_API}/${family}/${id.toUpperCase()}`)
        assert.deepEqual([status, body.data?.task_id], [200, id])
      }
      for (const family of others)
        assert.equal((await client.get(`${IMAGE_API}/${family}/${id}`)).status, 404)
    })

  test('says when to read again, and is 304 until it changes', async () => {
    const { client, path } = await createTask()
    const { headers } = await client.get(path)
    const etag = headers.get('etag') ?? ''
    assert.match(etag, /^"\d+-\d+"$/)
    const facts = ({ headers }: HttpResponse) => ({
      etag: headers.get('etag'),
      retry: headers.get('retry-after'),
      cache: headers.get('cache-control'),
      credits: headers.get('x-credits-used'),
    })
    const expected = { etag, retry: '2', cache: 'private, no-cache', credits: '0' }
    for (const known of [etag, `W/${etag}`, `"x", ${etag}`, '*']) {
      const unchanged = await client.get(path, { 'if-none-match': known })
      assert.deepEqual([unchanged.status, unchanged.body], [304, undefined], known)
      assert.deepEqual(facts(unchanged), expected)
    }
    await client.post(`${path}/cancel`, {})
    const changed = expectStatus(await client.get(path, { 'if-none-match': etag }), 200)
    assert.equal(changed.body.data.status, 'FAILED')
    assert.notEqual(changed.headers.get('etag'), etag)
    assert.equal(changed.headers.get('retry-after'), null)
  })

  test('the status of a task responds to HEAD like GET, without the body', async () => {
    const { client, path } = await createTask()
    const [head, get] = [await client.call('HEAD', path), await client.get(path)]
    assert.deepEqual([head.status, head.body], [200, undefined])
    for (const name of ['etag', 'retry-after', 'content-type', 'content-length'])
      assert.equal(head.headers.get(name), get.headers.get(name), name)
  })
})

const CANCELLED = {
  status: 'FAILED',
  generated: [],
  error: { code: 'cancelled', message: 'The caller cancelled the task.' },
}

describe('a cancel of a task that waits', () => {
  const BODIES: [string, unknown][] = [
    ['no body', undefined],
    ['{}', {}],
    ['any object', { reason: 'x', deep: [1] }],
  ]
  for (const [what, body] of BODIES)
    test(`with ${what} ends it at once`, async () => {
      const { client, id } = await createTask()
      const { status, body: response } = await client.call('POST', `${UPSCALE}/${id}/cancel`, body)
      assert.equal(status, 200)
      assert.deepEqual(response.data, { task_id: id, ...CANCELLED })
      assert.deepEqual((await client.get(`${UPSCALE}/${id}`)).body, response)
    })

  test('is 409 once it has ended, and changes nothing more', async () => {
    const { client, id } = await createTask()
    await client.post(`${PRECISION}/${id}/cancel`, {})
    const { headers } = await client.get(`${UPSCALE}/${id}`)
    const { status, body } = await client.post(`${UPSCALE}/${id}/cancel`, {})
    assert.deepEqual([status, body.error, body.error_type], [409, 'cannot_cancel', undefined])
    assert.equal(body.message, 'The task is FAILED: it is cancelled already.')
    const elsewhere = await client.post(`/tasks/${id}/cancel`, {})
    assert.match(
      expectStatus(elsewhere, 404, 'not_found').body.message ?? '',
      /cancelled below the path of its kind/,
    )
    const again = await client.get(`${UPSCALE}/${id}`)
    assert.equal(again.headers.get('etag'), headers.get('etag'))
  })

  test('is 400 with a body that is no object, and the task goes on', async () => {
    const { client, path } = await createTask()
    assert.equal((await client.post(`${path}/cancel`, [])).body.error, 'json_invalid')
    assert.equal((await client.get(path)).body.data.status, 'CREATED')
  })
})

/** Lists sequence and status of each event, and true when it is delivered. */
const eventsOf = async (id: string): Promise<[number, string, boolean][]> => {
  const rows = await sql<{ sequence: number; status: string; deliver: boolean }[]>`
    select sequence, status, deliver from event where task_id = ${id} order by sequence
  `
  return rows.map(({ sequence, status, deliver }) => [sequence, status, deliver])
}

interface Links {
  upload_url: string
  download_url: string
  expires_at: string
  existing_file: boolean
}

const askForUpload = async (client: Client, body: object): Promise<Links> => {
  const response = await client.create('/customers/storage', body)
  return response.body as unknown as Links
}

const upload = async (client: Client, name: string, bytes: Buffer): Promise<Links> => {
  const links = await askForUpload(client, { file_name: name })
  assert.equal((await put(links, bytes)).status, 200)
  return links
}

const put = ({ upload_url: url }: Links, bytes: Buffer): Promise<Response> =>
  fetch(url, { method: 'PUT', body: new Uint8Array(bytes) })

const filesOf = async ({ upload_url: url }: Links): Promise<string[]> => {
  const folder = new URL(url).pathname
  return (await service.listFiles()).filter((path) => path.includes(`${folder}/`))
}

describe('an operator', () => {
  const root = service.client('root')
  const logOf = async (id: string) => {
    const { body } = await root.get(`/admin/audit-log?target=task/${id}`)
    return (body['entries'] as unknown as Record<string, unknown>[]).map((entry) =>
      ['action', 'actor', 'before', 'after', 'reason'].map((name) => entry[name]),
    )
  }

  test('sees what stands still and what waits', async () => {
    const id = await createId(service.client('olga'))
    await sql`
      update task set last_moved_at = now() - interval '11 minutes',
        webhook_url = 'https://Hooks.example.com:8443/x?secret'
      where id = ${id}
    `
    await sql`
      update event set state = 'pending', failures = 1, next_attempt_at = now() + interval '1 hour'
      where task_id = ${id}
    `
    await sql`
      insert into outbox (kind, workflow_id, signal_name, next_attempt_at, attempts, last_error)
      values ('signal', 'image-task/x', 'y', now() + interval '1 hour', 3, 'no')
    `
    const { body } = expectStatus(await root.get('/admin/operations'), 200)
    const { stuck, outbox, deliveries, temporal } = body as unknown as Static<typeof Operations>
    assert.deepEqual([stuck.after_seconds, stuck.versions], [600, []])
    const [{ since, ...task } = assert.fail(), ...others] = stuck.tasks
    assert.deepEqual(
      [task, others],
      [{ id, family: 'image', kind: 'upscale', owner: 'olga', status: 'CREATED' }, []],
    )
    assert.ok(Date.now() - Date.parse(since) > 600_000, since)
    const row = outbox.rows.find(({ workflow_id }) => workflow_id === 'image-task/x')
    assert.deepEqual([row?.kind, row?.tries, row?.last_error], ['signal', 3, 'no'])
    assert.ok(outbox.waiting > 0)
    const receiver = deliveries.receivers.find(({ host }) => host === 'hooks.example.com:8443')
    assert.deepEqual([receiver?.waiting, receiver?.failing], [1, 1])
    assert.ok(Date.parse(String(receiver?.next_try_at)) > Date.now())
    assert.deepEqual([deliveries.waiting > 0, deliveries.is_sample], [true, false])
    const { taskQueue } = service
    assert.deepEqual(
      temporal.queues.map(({ name, type, pollers }) => [name, type, pollers.length > 0]),
      [
        [taskQueue, 'workflow', true],
        [taskQueue, 'activity', true],
        [`${taskQueue}-media`, 'activity', false],
        [`${taskQueue}-bulk`, 'activity', true],
      ],
    )
    await sql`delete from outbox where workflow_id = 'image-task/x'`
    await sql`update event set state = 'unsent' where task_id = ${id}`
    await service.client('olga').delete(`${UPSCALE}/${id}`)
  })

  test('starts a task again, once for each key', async () => {
    const id = await createId(service.client())
    const path = `/admin/tasks/${id.toUpperCase()}/restart`
    const restart = () => root.post(path, { reason: 'lost' }, { 'idempotency-key': id })
    const { status, body } = await restart()
    assert.deepEqual([status, body['changed'], body['status']], [200, true, 'CREATED'])
    assert.deepEqual((await restart()).body, body)
    assert.equal((await root.call('POST', path)).status, 200)
    const same = { status: 'CREATED' }
    assert.deepEqual(await logOf(id), [
      ['task.restart', 'root', same, same, undefined],
      ['task.restart', 'root', same, same, 'lost'],
    ])
    const rows = await sql<{ text: string }[]>`
      select concat_ws(' ', kind, options->>'endsOpen') as text
      from outbox where workflow_id = ${`image-task/${id}`} order by id
    `
    assert.deepEqual(pluck(rows, 'text'), ['start', 'restart true', 'restart true'])
  })

  test('fails a task that does not end, and only such a one', async () => {
    const { client, id } = await createTask()
    const fail = (id: string, body: object = { reason: 'stuck' }) =>
      root.post(`/admin/tasks/${id}/fail`, body)
    const unsaid = await fail(id, {})
    assert.deepEqual([unsaid.status, unsaid.body.details?.length], [400, 1])
    assert.match(unsaid.body.details?.[0] ?? '', /^\/reason /)
    for (const changed of [true, false]) {
      const { status, body } = await fail(id)
      assert.deepEqual([status, body['status'], body['changed']], [200, 'FAILED', changed])
    }
    const { body } = await client.get(`${UPSCALE}/${id}`)
    assert.equal(body.data.error?.code, 'internal_error')
    const [before, after] = [{ status: 'CREATED' }, { status: 'FAILED' }]
    assert.deepEqual(await logOf(id), [['task.fail', 'root', before, after, 'stuck']])
    expectStatus(await root.post(`/admin/tasks/${id}/restart`, {}), 409, 'illegal_move')
    for (const none of [randomUUID(), 'none']) {
      expectStatus(await fail(none), 404, 'task_not_found')
    }
    assert.equal((await client.get('/admin/operations')).status, 403)
    expectStatus(await client.post(`/admin/tasks/${id}/fail`, { reason: 'x' }), 403, 'forbidden')
  })

  test('and its owner end a task once, whoever comes first', async () => {
    const client = service.client()
    const ids = await atOnce(8, () => createId(client))
    await Promise.all(
      ids.flatMap((id) => [
        root.post(`/admin/tasks/${id}/fail`, { reason: 'stuck' }),
        client.delete(`${UPSCALE}/${id}`),
      ]),
    )
    for (const id of ids) {
      const { body } = await client.get(`${UPSCALE}/${id}`)
      const isOurs = body.data.error?.code === 'internal_error'
      assert.deepEqual([body.data.status, (await logOf(id)).length], ['FAILED', isOurs ? 1 : 0])
    }
    const [row] = await sql`
      select count(*)::integer as n from event where task_id = any(${ids}) and status = 'FAILED'
    `
    assert.equal(row?.['n'], ids.length)
  })
})

describe('an upload', () => {
  test('is found again by its hash, for its owner', async () => {
    const client = service.client()
    const bytes = await makePicture({ shade: 40 })
    const file_hash = createHash('sha256').update(bytes).digest('hex')
    assert.equal((await askForUpload(client, { file_name: 'a', file_hash })).existing_file, false)
    const first = await upload(client, 'sea.png', bytes)
    for (const hash of [file_hash, file_hash.toUpperCase()]) {
      const again = await askForUpload(client, { file_name: 'other.png', file_hash: hash })
      assert.equal(again.existing_file, true)
      assert.equal(again.download_url, first.download_url)
      assert.ok(again.expires_at > first.expires_at)
    }
    const others = await askForUpload(service.client(), { file_name: 'sea.png', file_hash })
    assert.equal(others.existing_file, false)
    const file = await fetch(first.download_url)
    assert.equal(file.headers.get('content-type'), 'image/png')
    assert.deepEqual(Buffer.from(await file.arrayBuffer()), bytes)
  })

  test('keeps the latest of its files, and those that an open task holds', async () => {
    const client = service.client()
    const pictures = await Promise.all([10, 20, 30, 40].map((shade) => makePicture({ shade })))
    const [first, second, third, last] = pictures as [Buffer, Buffer, Buffer, Buffer]
    const links = await upload(client, 'sea.png', first)
    for (const bytes of [second, first, second, second])
      assert.equal((await put(links, bytes)).status, 200)
    const [held = '', ...others] = await filesOf(links)
    assert.deepEqual(others, [])
    const id = await createId(client, UPSCALE, { image: links.download_url })
    await put(links, third)
    await put(links, last)
    const files = await filesOf(links)
    assert.deepEqual([files.length, files.includes(held)], [2, true])
    const file = await fetch(links.download_url)
    assert.deepEqual(Buffer.from(await file.arrayBuffer()), last)
    assert.equal((await client.get(`${UPSCALE}/${id}`)).status, 200)
  })

  test('is rejected beyond the bytes of its owner, and then leaves no file; so is a task, and one too many', async () => {
    const { baseUrl, entry } = await service.startSecondApi({
      OWNER_BYTE_LIMIT: '1000',
      OWNER_TASK_LIMIT: '3',
    })
    const client = makeClient(baseUrl, await service.token(`user-${randomUUID()}`))
    const links = await upload(client, 'a.bin', Buffer.alloc(600, 1))
    assert.equal((await put(links, Buffer.alloc(900, 2))).status, 200, 'what it replaces is free')
    const second = await askForUpload(client, { file_name: 'b.bin' })
    const rejected = await put(second, Buffer.alloc(101, 3))
    assert.equal(rejected.status, 429)
    assert.equal(((await rejected.json()) as { error: string }).error, 'quota_exceeded')
    assert.deepEqual([(await filesOf(second)).length, (await filesOf(links)).length], [0, 1])
    assert.equal((await put(second, Buffer.alloc(100, 3))).status, 200)

    const inline = await client.post(UPSCALE, { image: (await makePicture()).toString('base64') })
    assert.deepEqual([inline.status, inline.body.error], [429, 'quota_exceeded'])
    const made = await atOnce(12, () => client.post(UPSCALE, { image: IMAGE_URL }))
    const outcomes = made.map(({ status, body }) => `${status} ${body.error ?? ''}`).toSorted()
    assert.deepEqual(outcomes, [
      ...Array.from({ length: 3 }, () => '200 '),
      ...Array.from({ length: 9 }, () => '429 quota_exceeded'),
    ])
    await entry.kill()
  })

  const WRONG: [object, string][] = [
    [{}, '/file_name'],
    [{ file_name: '' }, '/file_name'],
    [{ file_name: 'a/b' }, '/file_name'],
    [{ file_name: '..' }, '/file_name'],
    [{ file_name: 'x'.repeat(256) }, '/file_name'],
    [{ file_name: 'a', file_hash: 'abc' }, '/file_hash'],
    [{ file_name: 'a', content_type: 5 }, '/content_type'],
  ]
  for (const [body, field] of WRONG)
    test(`is rejected for ${JSON.stringify(body).slice(0, 50)}`, async () => {
      const response = await service.client().post('/customers/storage', body)
      assert.deepEqual([response.status, response.body.details?.length], [400, 1])
      assert.ok(response.body.details?.[0]?.startsWith(`${field} must be`))
    })

  test('an upload is asked for by 100 Continue once its link is validated, and not before', async () => {
    const { upload_url: url } = await askForUpload(service.client(), { file_name: 'a.bin' })
    for (const [link, continued] of [
      [url, true],
      [forge(url), false],
    ] as const) {
      const headers = { expect: '100-continue', 'content-length': '5' }
      const outgoing = httpRequest(link, { method: 'PUT', headers, agent: false })
      let asked = false
      outgoing.on('continue', () => {
        asked = true
        outgoing.end('bytes')
      })
      outgoing.flushHeaders()
      const [response] = await once(outgoing, 'response')
      assert.deepEqual([asked, response.statusCode], [continued, continued ? 200 : 403])
      outgoing.destroy()
    }
  })

  const start = 'http://127.0.0.1'
  test('link as an image must be valid, not expired, and of a file that is there', async () => {
    const client = service.client()
    const { download_url: link } = await upload(client, 'a.png', await makePicture())
    const empty = await askForUpload(client, { file_name: 'a.png' })
    const id = new URL(link).pathname.split('/')[2] ?? ''
    const signer = makeSigner({
      keys: [signingKey],
      publicUrl: service.baseUrl,
      linkSeconds: 86_400,
    })
    const wrong = [
      forge(link),
      link.replace(/&signature=.*/, ''),
      link.replace('a.png', 'b.png'),
      signer.signFile(id, 'a.png', new Date(Date.now() - 90_000_000)),
      empty.download_url,
      signer.signFile(randomUUID(), 'a.png', new Date()),
    ]
    for (const image of wrong) {
      assert.ok(image.startsWith(start))
      const { status, body } = await client.post(UPSCALE, { image })
      assert.deepEqual([status, body.error], [400, 'url_refused'], image)
      assert.doesNotMatch(JSON.stringify(body), /signature=\w/)
    }
    const mistaken = await client.post(UPSCALE, { image: empty.upload_url })
    assert.deepEqual([mistaken.status, mistaken.body.error], [400, 'url_refused'])
    assert.match(
      mistaken.body.message ?? '',
      /must be the download_url of an upload, not its upload_url/,
    )
    assert.deepEqual((await client.get(UPSCALE)).body.data, [])
  })
})

describe('with a media worker', () => {
  let receiver: Receiver
  let client: Client

  before(async () => {
    // Never ends what it begins, so that a task stays IN_PROGRESS.
    receiver = await startReceiver((_request, response) => {
      response.writeHead(200, { 'content-length': 1000 }).write('x')
    })
    client = service.client()
    await service.start('media')
  })
  after(() => receiver?.close())

  test('a cancel stops what renders', async () => {
    const id = await createId(client, UPSCALE, { image: `http://127.0.0.1:${receiver.port}/a.png` })
    const path = `${UPSCALE}/${id}`
    await waitFor('the picture is being fetched', () => Promise.resolve(receiver.connections() > 0))
    const running = await client.get(path)
    assert.equal(running.body.data.status, 'IN_PROGRESS')
    assert.equal(running.headers.get('retry-after'), '1')
    const { body } = expectStatus(await client.post(`${path}/cancel`, {}), 200)
    assert.deepEqual(body.data, { task_id: id, ...CANCELLED })
    await waitFor('the fetch has stopped', () => Promise.resolve(receiver.open() === 0))
    assert.deepEqual((await client.get(path)).body.data, body.data)
    assert.deepEqual(await eventsOf(id), [
      [1, 'CREATED', false],
      [2, 'IN_PROGRESS', true],
      [3, 'FAILED', true],
    ])
  })

  test('an upload, and the result of another task, is taken from the store and not fetched', async () => {
    const { download_url: link } = await upload(client, 'a.png', await makePicture({ width: 30 }))
    const first = await createId(client, UPSCALE, { image: link })
    const { generated } = await client.untilEnded('image-upscaler', first)
    const second = await createId(client, RELIGHT, {
      image: generated[0] ?? '',
      transfer_light_from_lightmap: link,
    })
    const ended = await client.untilEnded('image-relight', second)
    assert.equal(ended.status, 'COMPLETED', JSON.stringify(ended))
    const { inputs: shown } = (await client.get(`/tasks/${first}`)).body as unknown as {
      inputs: { url: string; stored_url?: string }[]
    }
    assert.equal(shown[0]?.url, link)
    const kept = await fetch(shown[0]?.stored_url ?? '')
    assert.equal(kept.headers.get('content-type'), 'image/png')
    assert.deepEqual(await kept.arrayBuffer(), await (await fetch(link)).arrayBuffer())
    const inputs = await sql<{ storage_key: string; url: string | null }[]>`
      select storage_key, url from task_input where task_id in ${sql([first, second])}
    `
    assert.deepEqual(
      inputs.map(({ storage_key: key, url }) => `${key.split('/')[0]} ${url}`).toSorted(),
      [`results ${generated[0]}`, `uploads ${link}`, `uploads ${link}`],
    )
  })

  test('two reads of a task in one hour have the same links', async () => {
    const id = await createId(client, UPSCALE, { image: await base64() })
    const first = await client.untilEnded('image-upscaler', id)
    const asked = Date.now() / 1000
    const { headers, body } = await client.get(`${UPSCALE}/${id}`)
    const hour = headers.get('etag')?.split('-')[1]
    const expires = Number(new URL(body.data.generated[0] ?? '').searchParams.get('expires'))
    assert.equal(`${expires / 3600}"`, hour)
    assert.ok(expires > asked + 86_400, `${expires - asked}`)
    assert.ok(expires <= Date.now() / 1000 + 90_000, `${expires - asked}`)
    if (expires === Number(new URL(first.generated[0] ?? '').searchParams.get('expires')))
      assert.deepEqual(body.data, first)
  })
})
