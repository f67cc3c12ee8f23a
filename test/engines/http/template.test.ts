import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { makeKiln } from '../../../packages/client/src/index.ts'
import { ROOT, codePath } from '../../../src/local/root.ts'

import { makePortrait, CLIP, FILM, makeTemplateFolder } from '../../support/comfyui/custom.ts'
import { startFakeComfy, type FakeComfy } from '../../support/comfyui/fake.ts'
import { IMAGE_URL, UPSCALE, expectStatus, listOf, makeClient } from '../../support/client.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { listKinds, untilListed } from './listed.ts'

const execute = promisify(execFile)
const PORTRAIT = '/templates/portrait/tasks'

let fake: FakeComfy
let folder: Awaited<ReturnType<typeof makeTemplateFolder>>

const service = useService(
  async () => {
    fake = await startFakeComfy()
    folder = await makeTemplateFolder()
    await folder.write('portrait', makePortrait())
    await folder.write('film', FILM)
    await folder.write('clip', CLIP)
    // As one that is being copied while the worker starts.
    await folder.write('half', makePortrait().slice(0, 40))
    await writeInstances('# none yet')
    return {
      roles: ['api', 'core'],
      env: {
        ADMIN_SUBJECTS: 'root',
        COMFYUI_URLS: `file:${folder.folder}/instances`,
        COMFYUI_TEMPLATES: folder.folder,
      },
    }
  },
  async () => {
    await writeInstances(`gpu1=${fake.url}`)
    for (const name of ['portrait', 'film', 'clip']) await untilListed(client, name)
  },
)
const client = service.client('alice')

const untilRunning = (): Promise<Record<string, { inputs: Record<string, unknown> }>> =>
  waitFor('a prompt runs', async () => {
    const response = await fetch(`${fake.url}/queue`)
    const { queue_running: running } = (await response.json()) as { queue_running: unknown[][] }
    return running[0]?.[2] as Record<string, { inputs: Record<string, unknown> }> | undefined
  })

/** Replaces the list of instances, which the worker reads again. */
const writeInstances = async (text: string): Promise<void> => {
  await writeFile(join(folder.folder, 'instances.new'), text)
  await rename(join(folder.folder, 'instances.new'), join(folder.folder, 'instances'))
}

const create = async (body: object, path = PORTRAIT): Promise<string> =>
  (await client.create(path, body)).body.data.task_id

after(async () => {
  await fake.close()
  await folder.close()
})

describe('a template in custom', () => {
  test('is listed with the members, types, ranges and defaults of its marks', async () => {
    const { body, ...portrait } = await untilListed(client, 'portrait')
    assert.deepEqual(portrait, { name: 'portrait', kind: 'custom/portrait', path: PORTRAIT })
    const { image, webhook_url: _url, ...settings } = body.properties
    assert.equal(image?.['type'], 'string')
    assert.deepEqual(body.required, ['image'])
    const own = Object.entries(settings).filter(([name]) => !name.startsWith('kiln_'))
    assert.deepEqual(
      own.map(([name, { description: _text, ...rule }]) => [name, rule]),
      [
        ['radius', { type: 'integer', minimum: 1, maximum: 31, default: 6 }],
        ['softness', { type: 'number', minimum: 1, maximum: 100, default: 30 }],
        ['strength', { type: 'number', minimum: 0, maximum: 100, default: 55 }],
        [
          'mode',
          {
            enum: ['normal', 'multiply', 'screen', 'overlay', 'soft_light', 'difference'],
            default: 'soft_light',
          },
        ],
        ['prompt', { type: 'string', maxLength: 10_000, default: 'soft light' }],
        [
          'seed',
          {
            type: 'integer',
            minimum: Number.MIN_SAFE_INTEGER,
            maximum: Number.MAX_SAFE_INTEGER,
          },
        ],
      ],
    )
  })

  test('is one beside a file that cannot be used, which the log says once and an admin reads', async () => {
    const file = 'custom/half.json'
    const read = await waitFor('an instance was asked', async () => {
      const response = await service.client('root').get('/admin/instances')
      const templates = listOf<{ name: string; lacking: { issues: string[] }[] }>(
        response,
        'templates',
      )
      return templates.find(({ name }) => name === file)
    })
    const [issue = ''] = read.lacking[0]?.issues ?? []
    assert.match(issue, /^custom\/half\.json: .*JSON/)
    const lines = service.entry('core').log.filter((line) => line.includes(file))
    assert.equal(lines.length, 1, lines.join('\n'))
    assert.ok(lines[0]?.includes(JSON.stringify([issue])))
  })

  test('is in the OpenAPI document with a path of its own', async () => {
    const document = (await client.get('/openapi.json')).body as unknown as {
      paths: Record<string, { post?: { operationId: string } } | undefined>
    }
    assert.equal(document.paths[PORTRAIT]?.post?.operationId, 'run_portrait')
    assert.ok(document.paths['/templates/{name}/tasks'])
    const yaml = await (await fetch(`${service.baseUrl}/openapi.yml`)).text()
    assert.match(yaml, /\/templates\/portrait\/tasks/)
  })

  test('makes tasks that are rendered, read, listed and made again like all others', async () => {
    const image = await base64({ width: 40, height: 30 })
    const body = { image, radius: 3, strength: 20, mode: 'screen', prompt: 'evening', seed: 12 }
    fake.hold()
    const { headers, body: made } = await client.create(PORTRAIT, body)
    const { task_id: id, ...rest } = made.data
    assert.deepEqual(rest, { status: 'CREATED', generated: [] })
    assert.equal(headers.get('location'), `${service.baseUrl}${PORTRAIT}/${id}`)
    assert.equal(headers.get('x-credits-used'), '0')
    const graph = await untilRunning()
    assert.deepEqual(
      [graph['2'], graph['3'], graph['4'], graph['5']].map((node) => node?.inputs),
      [
        { image: ['1', 0], blur_radius: 3, sigma: 3 },
        { image1: ['1', 0], image2: ['2', 0], blend_factor: 0.2, blend_mode: 'screen' },
        { value: 'evening' },
        { value: 12 },
      ],
    )
    fake.release()
    const { status, generated } = await client.untilEndedAt(PORTRAIT, id)
    assert.equal(status, 'COMPLETED')
    const response = await fetch(generated[0] ?? '')
    assert.equal(response.headers.get('content-type'), 'image/png')
    expectStatus(await client.post(`${PORTRAIT}/${id}/cancel`, {}), 409, 'cannot_cancel')
    const listed = await client.get(`${PORTRAIT}?per_page=5`)
    assert.ok(JSON.stringify(listed.body.data).includes(id))
    assert.deepEqual((await client.get('/templates/film/tasks')).body.data, [])
    expectStatus(await client.get(`/templates/film/tasks/${id}`), 404, 'task_not_found')
    expectStatus(await client.get(`${UPSCALE}/${id}`), 404, 'task_not_found')
    expectStatus(await service.client('bob').get(`${PORTRAIT}/${id}`), 404, 'task_not_found')

    const [item] = listOf(await client.get('/tasks?kind=custom/portrait&limit=1'), 'tasks')
    assert.deepEqual(
      [item?.['task_id'], item?.['kind'], item?.['path'], item?.['prompt']],
      [id, 'custom/portrait', `${PORTRAIT}/${id}`, 'evening'],
    )
    const { request } = (await client.get(`/tasks/${id}`)).body as unknown as {
      request: { path: string; body: Record<string, unknown> }
    }
    const { image: link, ...settings } = request.body
    assert.deepEqual(
      [request.path, settings],
      [
        PORTRAIT,
        { radius: 3, softness: 30, strength: 20, mode: 'screen', prompt: 'evening', seed: 12 },
      ],
    )
    const { events } = (await client.get(`/tasks/${id}/events`)).body as unknown as {
      events: { status: string }[]
    }
    assert.deepEqual(events.map((event) => event.status).toSorted(), [
      'COMPLETED',
      'CREATED',
      'IN_PROGRESS',
    ])
    const again = await create({ ...settings, image: link })
    assert.equal((await client.untilEndedAt(PORTRAIT, again)).status, 'COMPLETED')
    const stream = await fetch(`${service.baseUrl}/tasks/${again}/stream`, {
      headers: { authorization: `Bearer ${await service.token('alice')}` },
    })
    assert.match(await stream.text(), /event: end\ndata: \{"data":\{"task_id"/)
  })

  test('makes a task once for an Idempotency-Key, and none of a dry run', async () => {
    const body = { image: await base64({ width: 20, height: 20 }) }
    const key = { 'idempotency-key': 'portrait-1' }
    const [first, second] = [
      await client.post(PORTRAIT, body, key),
      await client.post(PORTRAIT, body, key),
    ]
    assert.equal(second.body.data.task_id, first.body.data.task_id)
    expectStatus(
      await client.post(PORTRAIT, { ...body, radius: 2 }, key),
      422,
      'idempotency_mismatch',
    )
    const dry = await client.post(`${PORTRAIT}?dry_run=true`, body)
    assert.deepEqual([dry.body['dry_run'], dry.body['credits']], [true, 0])
  })

  test('is run by the client and the command line, which list it, too', async () => {
    const token = await service.token('carol')
    const kiln = makeKiln({ baseUrl: service.baseUrl, token })
    const names = (await kiln.templates.list()).map(({ name }) => name)
    assert.ok(names.includes('portrait'))
    const bytes = await makePicture({ width: 20, height: 20 })
    const task = await kiln.templates.createTask('portrait', { image: bytes, radius: 2 })
    const ended = await kiln.wait(task.id)
    assert.equal(ended.state, 'succeeded', JSON.stringify(ended))
    assert.equal((await kiln.read(task)).state, 'succeeded')
    await assert.rejects(kiln.templates.createTask('none', {}), { code: 'template_not_found' })

    await writeFile(join(folder.folder, 'photo.png'), bytes)
    const run = (...args: string[]) =>
      execute(process.execPath, [codePath('packages/client/src/cli/kiln.ts'), ...args], {
        cwd: folder.folder,
        env: { ...process.env, KILN_URL: service.baseUrl, KILN_TOKEN: token },
      })
    const { stdout } = await run('templates')
    assert.match(stdout, /^portrait$/m)
    assert.match(stdout, /^portrait\n {2}image {2}picture, required$/m)
    assert.equal(stdout.match(/^ {2}webhook_url /gm)?.length, 1)
    assert.match(stdout, /^every template\n {2}webhook_url {2}string$/m)
    const help = await run('run', 'portrait', '--help')
    assert.match(
      help.stdout,
      /^ {2}-o, --output [^]*^portrait takes\n {2}image {2}picture, required$/m,
    )
    await assert.rejects(run('run', 'portrait'), {
      code: 3,
      stderr: /^kiln: portrait needs the file image: kiln run portrait <file> \(request/m,
    })
    for (const args of [
      ['run', 'portrat', 'photo.png'],
      ['run', 'portrat', '--help'],
    ])
      await assert.rejects(run(...args), {
        code: 3,
        stderr:
          /^kiln: there is no template portrat; did you mean portrait\? `kiln templates` lists.*`kiln operate templates`/m,
      })
    assert.match(stdout, /^ {2}radius {2}integer 1 to 31, 6 unless given$/m)
    const made = await run('run', 'portrait', 'photo.png', '--prompt', 'dusk', '--set', 'radius=4')
    assert.equal(made.stdout, 'photo.run.png\n')
    await assert.rejects(run('run', 'portrait', 'photo.png', '--set', 'radius=99'), {
      code: 3,
      stderr: /\/radius must be a whole number from 1 to 31, got 99/,
    })
    await assert.rejects(run('run', 'portrait', 'photo.png', '--set', 'radius', '4'), {
      code: 2,
      stderr: /^kiln: --set takes name=value in one word: --set radius=<value>$/m,
    })
  })

  test('says which member an instance has rejected and why, and to admins at which node', async () => {
    const errors = ['image', 'blur_radius'].map((input) => ({
      type: 'custom_validation_failed',
      details: `${input} - must be even, says ImageBlur of ${fake.url}`,
      extra_info: { input_name: input },
    }))
    const body = JSON.stringify({ node_errors: { 2: { class_type: 'ImageBlur', errors } } })
    fake.intercept = (request) => (request === 'POST /prompt' ? { status: 400, body } : undefined)
    const id = await create({ image: await base64(), radius: 5 })
    const { error } = await client.untilEndedAt(PORTRAIT, id)
    fake.intercept = undefined
    assert.deepEqual(error, {
      code: 'upstream_rejected',
      message:
        '/radius is rejected by a check of the workflow: must be even, says (text) of (address)',
    })
    const read = async (user: string) =>
      (await service.client(user).get(`/tasks/${id}`)).body['engine_error']
    const place = 'node 2 "kiln:radius=blur_radius, softness/10=sigma" ImageBlur'
    assert.equal(
      await read('root'),
      `${place}, image (a link): custom_validation_failed, ${place}, blur_radius (an integer): custom_validation_failed`,
    )
    assert.equal(await read('alice'), undefined)
  })

  test('shows what its engine says of a failure to admins, and to callers where that is set', async () => {
    const fail = async (): Promise<string> => {
      fake.poison = () => 'raise'
      const id = await create({ image: await base64() })
      const { error } = await client.untilEndedAt(PORTRAIT, id)
      fake.poison = undefined
      assert.match(error?.message ?? '', /^The engine failed three times\./)
      return id
    }
    const errorOf = async (id: string) => {
      const { error } = await client.untilEndedAt(PORTRAIT, id)
      const { body } = await client.get(`/tasks/${id}`)
      assert.deepEqual(body['error'], error)
      return error
    }
    const readError = async (user: string, id: string) =>
      (await service.client(user).get(`/tasks/${id}`)).body['engine_error']
    const said = /^node \w+ \w+: ValueError: kiln test/
    const hidden = await fail()
    assert.match(String(await readError('root', hidden)), said)
    assert.equal(await readError('alice', hidden), undefined)
    assert.equal(await readError('bob', hidden), undefined)
    assert.deepEqual(await errorOf(hidden), {
      code: 'engine_failed',
      message: `The engine failed three times. Operators read why by kiln operate explain ${hidden}, or on its page in the console.`,
    })

    await writeInstances(`gpu1=${fake.url}|errors=shown`)
    const shown = await waitFor('the worker has read the option', async () => {
      const id = await fail()
      return (await readError('alice', id)) === undefined ? undefined : id
    })
    assert.match(String(await readError('alice', shown)), said)
    assert.equal(await readError('bob', shown), undefined)
    const { message, engine_error: known } = { ...(await errorOf(shown)) } as Record<string, string>
    assert.equal(message, 'The engine failed three times.')
    assert.match(known ?? '', said)
    const kiln = makeKiln({ baseUrl: service.baseUrl, token: await service.token('alice') })
    const read = await kiln.read(shown)
    assert.equal(read.state === 'failed' && read.error.engineError, known)
    const watched = execute(
      process.execPath,
      [codePath('packages/client/src/cli/kiln.ts'), 'watch', shown],
      {
        env: {
          ...process.env,
          KILN_URL: service.baseUrl,
          KILN_TOKEN: await service.token('alice'),
        },
      },
    )
    await assert.rejects(watched, { code: 1, stdout: /\nengine: node \w+ \w+: ValueError/ })
  })

  test('makes a video, with a cover as its thumbnail', async () => {
    const id = await create(
      { image: await base64({ width: 64, height: 48 }), frames: 6 },
      '/templates/film/tasks',
    )
    const { status, generated, error } = await client.untilEndedAt('/templates/film/tasks', id)
    assert.deepEqual([status, error], ['COMPLETED', undefined])
    const response = await fetch(generated[0] ?? '')
    assert.equal(response.headers.get('content-type'), 'video/mp4')
    assert.ok(!Buffer.from(await response.arrayBuffer()).includes('class_type'))
    assert.ok((await client.get(`/tasks/${id}`)).body['thumbnail_url'])
  })

  test('takes a video by its link, and says of a picture that it is none', async () => {
    const kiln = makeKiln({ baseUrl: service.baseUrl, token: await service.token('alice') })
    const clip = await readFile(join(ROOT, 'packages/console/src/home/clip.mp4'))
    const made = await kiln.templates.createTask('clip', { clip, fps: 8 })
    const ended = await kiln.wait(made)
    assert.equal(ended.state, 'succeeded', JSON.stringify(ended))
    const picture = await makePicture({ width: 20, height: 20 })
    const failed = await kiln.wait(await kiln.templates.createTask('clip', { clip: picture }))
    assert.ok(failed.state === 'failed')
    assert.deepEqual(failed.error, {
      code: 'video_invalid',
      message: '/clip: The source video is not MP4, MOV, Matroska or WebM.',
    })
  })

  test('is cancelled while it renders', async () => {
    fake.hold()
    const id = await create({ image: await base64({ width: 20, height: 20 }) })
    await untilRunning()
    const { body } = expectStatus(await client.post(`${PORTRAIT}/${id}/cancel`, {}), 200)
    assert.equal(body.data.error?.code, 'cancelled')
    fake.release()
  })

  test('is rendered by as many at once as an instance takes whose depth was raised', async () => {
    fake.hold()
    await writeInstances(`gpu1=${fake.url}|depth=8`)
    const image = await base64({ width: 20, height: 20 })
    const ids = await Promise.all(Array.from({ length: 8 }, () => create({ image })))
    await waitFor('all are there', async () => {
      const response = await fetch(`${fake.url}/prompt`)
      const { exec_info: info } = (await response.json()) as {
        exec_info: { queue_remaining: number }
      }
      return info.queue_remaining === 8
    })
    fake.release()
    for (const id of ids)
      assert.equal((await client.untilEndedAt(PORTRAIT, id)).status, 'COMPLETED')
  })
})

const BAD: [title: string, body: object, details: string[]][] = [
  [
    'a picture that is absent',
    {},
    ['/image must be an image as Base64, a data: URI or an https URL, but is absent'],
  ],
  [
    'a number out of its range',
    { image: IMAGE_URL, radius: 32, strength: -1 },
    [
      '/radius must be a whole number from 1 to 31, got 32',
      '/strength must be a number from 0 to 100, got -1',
    ],
  ],
  [
    'a number of another type',
    { image: IMAGE_URL, radius: 2.5, softness: '3' },
    [
      '/radius must be a whole number from 1 to 31, got 2.5',
      '/softness must be a number from 1 to 100, got "3"',
    ],
  ],
  [
    'a choice that there is not',
    { image: IMAGE_URL, mode: '../../etc/passwd' },
    [
      '/mode must be one of normal, multiply, screen, overlay, soft_light, difference, got "../../etc/passwd"',
    ],
  ],
  [
    'a text that is too long',
    { image: IMAGE_URL, prompt: 5 },
    ['/prompt must be a string of at most 10000 characters, got 5'],
  ],
  [
    'a path in place of a picture',
    { image: '/etc/hostname' },
    [
      '/image expected an image as URL, data URI or Base64: the length leaves one character over (character 13).',
    ],
  ],
]

describe('a request to a template', () => {
  for (const [title, body, details] of BAD)
    test(`is rejected for ${title}, with field, expectation and value`, async () => {
      const response = await client.post(PORTRAIT, body)
      assert.equal(response.status, 400, JSON.stringify(response.body))
      assert.deepEqual(response.body.details, details)
    })

  test('is rejected by name for a member that nothing reads, where the caller prefers it', async () => {
    const response = await client.post(
      PORTRAIT,
      { image: IMAGE_URL, radios: 3 },
      { prefer: 'handling=strict' },
    )
    assert.match(
      String(expectStatus(response, 400, 'validation_failed').body.details),
      /\/radios .*radius/,
    )
  })

  test('needs a credential, and a template that is there', async () => {
    const anonymous = makeClient(() => service.baseUrl)
    expectStatus(await anonymous.post(PORTRAIT, { image: IMAGE_URL }), 401, 'unauthorized')
    expectStatus(await anonymous.get('/templates'), 401, 'unauthorized')
    // The service has no media worker, for the kinds of its own.
    await waitFor('the core worker has said that it lives', async () => {
      const { body: listed } = await client.get('/templates')
      const { unserved } = listed as unknown as { unserved: string[] }
      return !unserved.includes('custom/portrait') && unserved.includes('relight')
    })
    const { body } = expectStatus(
      await client.post('/templates/portrit/tasks', { image: IMAGE_URL }),
      404,
      'template_not_found',
    )
    assert.match(body.message ?? '', /portrit.*GET \/templates.*`kiln operate templates`/)
    expectStatus(await client.get('/tasks?kind=custom/'), 400, 'validation_failed')
  })
})

describe('a folder of templates', () => {
  test('is read again while the service runs, and each task keeps the graph it was made with', async () => {
    fake.hold()
    const image = await base64({ width: 24, height: 24 })
    await folder.write(
      'seasons',
      makePortrait({ 4: ['PrimitiveString', { value: 'spring' }, 'kiln:season'] }),
    )
    await untilListed(client, 'seasons')
    const old = await create({ image }, '/templates/seasons/tasks')
    await untilRunning()
    // The second waits in Kiln or on the instance until the first has ended.
    const waiting = await create({ image }, '/templates/seasons/tasks')
    await folder.write('seasons', '{"1":{"class_type":"Load')
    await folder.write('other', FILM)
    await folder.write(
      'seasons',
      makePortrait({ 4: ['PrimitiveString', { value: 'winter' }, 'kiln:time'] }),
    )
    const changed = await untilListed(client, 'seasons', ({ body }) => 'time' in body.properties)
    assert.equal(changed.body.properties['time']?.['default'], 'winter')
    await untilListed(client, 'other')
    const response = await client.post(
      '/templates/seasons/tasks',
      { image, season: 'spring' },
      { prefer: 'handling=strict' },
    )
    expectStatus(response, 400, 'validation_failed')
    await folder.remove('seasons')
    await waitFor('the template is gone', async () =>
      (await listKinds(client)).every(({ name }) => name !== 'seasons'),
    )
    const gone = await client.post('/templates/seasons/tasks', { image })
    assert.match(
      expectStatus(gone, 404, 'template_not_found').body.message ?? '',
      /not any more.*Tasks that were made with it go on/,
    )
    fake.release()
    for (const id of [old, waiting])
      assert.equal((await client.untilEndedAt('/templates/seasons/tasks', id)).status, 'COMPLETED')
    const { body } = await client.get(`/tasks/${waiting}`)
    assert.deepEqual(
      (body as unknown as { request: { body: { season: string } } }).request.body.season,
      'spring',
    )
  })

  test('is seen alike by every api, also by one that starts without a fleet', async () => {
    const second = await service.startSecondApi()
    const other = makeClient(second.baseUrl, () => service.token('alice'))
    assert.deepEqual(await listKinds(other), await listKinds(client))
  })
})
