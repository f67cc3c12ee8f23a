import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { env } from 'node:process'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'

import sharp from 'sharp'

import { makeKiln } from '../../../packages/client/src/index.ts'
import { findVideoBinaries } from '../../../packages/engines/src/binaries.ts'
import type { Config } from '../../../src/compose/settings/env.ts'
import { ROOT } from '../../../src/local/root.ts'
import { examine } from '../../../src/operate/doctor.ts'
import { makeEngineChecks } from '../../../src/operate/engine-checks.ts'
import { expectStatus, listOf } from '../../support/client.ts'
import { startFakeCog, type FakeCog } from '../../support/cog/fake.ts'
import { startPythonEngine, type PythonEngine } from '../../support/cog/python.ts'
import { useFolder } from '../../support/folder.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { WITHOUT_PYTHON as skip } from '../../support/python.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { untilListed } from './listed.ts'

const SHADE = `
import struct
import sys
import zlib
from pathlib import Path
from tempfile import mkdtemp
from typing import Annotated, Literal

from kiln_engine import Range, engine, progress


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


@engine
def shade(
    image: Path,
    size: Annotated[int, Range(1, 64)] = 8,
    mode: Literal["plain", "fail"] = "plain",
    masks: list[Path] | None = None,
) -> Path:
    """Paints a square.

    size: Width and height in pixels.
    """
    print("read", *(len(file.read_bytes()) > 0 for file in [image, *(masks or [])]))
    progress(1, 2)
    if mode == "fail":
        raise ValueError("as it was asked")
    picture = Path(mkdtemp(), "shade.png")
    header = struct.pack(">IIBBBBB", size, size, 8, 0, 0, 0, 0)
    rows = zlib.compress(bytes(size + 1) * size)
    picture.write_bytes(
        b"\\x89PNG\\r\\n\\x1a\\n" + chunk(b"IHDR", header) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")
    )
    return picture
`

/** A picture that is too large for a data URL. */
const LARGE = { width: 600, height: 600, channels: 3, background: 'black' } as const

const ENHANCE = '/templates/enhance/tasks'
const folder = useFolder()
let fake: FakeCog
let film: FakeCog
let python: PythonEngine | undefined

/** Starts a function of Python as an engine, where Python is. */
const startPython = async (): Promise<PythonEngine | undefined> => {
  if (skip !== false) return undefined
  const file = join(folder, 'shade.py')
  await writeFile(file, SHADE)
  return await startPythonEngine(file, '--port', '0', '--token', 'secret')
}

const service = useService(async () => {
  fake = await startFakeCog({
    properties: {
      image: { type: 'string', format: 'uri', 'x-order': 0 },
      scale: { type: 'number', minimum: 1, maximum: 8, default: 2, 'x-order': 1 },
      words: { type: 'array', items: { type: 'string' }, maxItems: 2, 'x-order': 2 },
      masks: {
        type: 'array',
        items: { type: 'string', format: 'uri' },
        maxItems: 12,
        'x-order': 3,
      },
    },
  })
  film = await startFakeCog({
    properties: {
      prompt: { type: 'string' },
      start: { type: 'string', format: 'uri' },
      seconds: { type: 'number' },
    },
    required: ['prompt'],
  })
  python = await startPython()
  const engines = [
    `enhance=${fake.url}`,
    `film=${film.url}`,
    'away=http://127.0.0.1:1',
    ...(python ? [`shade=${python.url}`] : []),
  ]
  return {
    roles: ['api', 'core'],
    env: {
      ADMIN_SUBJECTS: 'root',
      ENGINES: 'upscale:http:enhance,text2video:http:film',
      ENGINES_HTTP: engines.join(),
      ...(python && { ENGINES_HTTP_TOKENS: 'shade=secret' }),
    },
  }
})
const client = service.client('alice')

interface Detail {
  kind: string
  progress?: number
  log?: string
  waits_for?: string
  inputs: { field: string }[]
  request: { path: string; body: object }
}

const readTask = async (id: string): Promise<Detail> =>
  expectStatus(await client.get(`/tasks/${id}`), 200).body as unknown as Detail

/** Files that the engine was given last. */
const lastMasks = (): string[] => [fake.begun.at(-1)?.input['masks'] ?? []].flat() as string[]

const create = async (path: string, body: object): Promise<string> =>
  (await client.create(path, body)).body.data.task_id

/** Makes a second of red as a data URL. */
const makeClip = async (): Promise<string> => {
  const { ffmpeg } = await findVideoBinaries({ searchPath: env['PATH'] ?? '', production: false })
  const path = join(folder, 'clip.mp4')
  const source = ['-f', 'lavfi', '-i', 'color=red:s=64x48:r=24:d=1']
  await promisify(execFile)(ffmpeg.path, ['-v', 'error', ...source, '-pix_fmt', 'yuv420p', path])
  return `data:video/mp4;base64,${(await readFile(path)).toString('base64')}`
}

after(async () => {
  await python?.kill()
  await Promise.all([fake.close(), film.close()])
})

describe('an engine of ENGINES_HTTP', () => {
  test('is a kind with the fields of its Input, and makes its tasks', async () => {
    const { path, body } = await untilListed(client, 'enhance')
    assert.equal(path, ENHANCE)
    assert.deepEqual(body.required, ['image'])
    const { type, minimum, maximum, default: preset } = body.properties['scale'] ?? {}
    assert.deepEqual([type, minimum, maximum, preset], ['number', 1, 8, 2])
    const id = await create(ENHANCE, { image: await base64(), scale: 3 })
    const { status, generated } = await client.untilEndedAt(ENHANCE, id)
    assert.deepEqual([status, generated.length], ['COMPLETED', 1])
    const begun = fake.begun.at(-1)
    assert.equal(begun?.input['scale'], 3)
    assert.match(String(begun?.webhook), /\/engines\/predictions\/[^/]+\/[\w-]{43}$/)
    assert.equal((await readTask(id)).kind, 'custom/enhance')
  })

  test('rejects values that its Input does not take', async () => {
    await untilListed(client, 'enhance')
    const image = await base64()
    expectStatus(await client.post(ENHANCE, { image, scale: 9 }), 400, 'validation_failed')
    expectStatus(await client.post(ENHANCE, { scale: 2 }), 400, 'validation_failed')
    const { body } = await client.post(ENHANCE, { image, contrast: 1 })
    assert.deepEqual(body.details, [
      '/contrast must be absent, because nothing reads it (what its engine takes is read again each minute) (got 1)',
    ])
  })

  test('is given lists of its values', async () => {
    await untilListed(client, 'enhance')
    const image = await base64()
    const id = await create(ENHANCE, { image, words: ['a', 'b'] })
    assert.equal((await client.untilEndedAt(ENHANCE, id)).status, 'COMPLETED')
    assert.deepEqual(fake.begun.find(({ input }) => 'words' in input)?.input['words'], ['a', 'b'])
    for (const words of [['a', 'b', 'c'], [1], 'a'])
      expectStatus(await client.post(ENHANCE, { image, words }), 400, 'validation_failed')
  })

  test('is given lists of files: bytes, uploads and large ones as links, in their order', async () => {
    await untilListed(client, 'enhance')
    const sizes = Array.from({ length: 11 }, (_, index) => ({ width: 32 + index, height: 32 }))
    const small = await Promise.all(sizes.map((size) => base64(size)))
    const noise = {
      create: { ...LARGE, noise: { type: 'gaussian', mean: 128, sigma: 50 } },
    } as const
    const large = await sharp(noise).png().toBuffer()
    const kiln = makeKiln({ baseUrl: service.baseUrl, token: await service.token('alice') })
    const masks = [...small, large]
    const task = await kiln.templates.createTask('enhance', { image: small[0] ?? '', masks })
    assert.equal((await kiln.wait(task)).state, 'succeeded')
    const sent = fake.begun.find(({ input }) => 'masks' in input)?.input['masks'] as string[]
    assert.deepEqual(
      sent.slice(0, 11),
      small.map((one) => `data:image/png;base64,${one}`),
    )
    assert.ok(large.length > 2 ** 19)
    assert.match(String(sent[11]).slice(0, 200), /\/files\/[^/]+\/input-masks\.11/)
    const { request, inputs } = await readTask(task.id)
    assert.deepEqual(
      inputs.map(({ field }) => field),
      ['image', ...sent.map((_, index) => `masks.${index}`)],
    )
    // What the task is shown with makes it again.
    const again = await create(request.path, request.body)
    assert.equal((await client.untilEndedAt(ENHANCE, again)).status, 'COMPLETED')
    assert.equal(lastMasks().length, 12)
  })

  test('names what is wrong with a file of a list', async () => {
    await untilListed(client, 'enhance')
    const image = await base64()
    const broken = Buffer.from('no picture').toString('base64')
    for (const [masks, code, message] of [
      [[image, broken], 'image_invalid', /^\/masks\/1: /],
      [[image, 'https://10.0.0.1/a.png'], 'url_refused', /^\/masks\/1 must name a public address/],
      [Array<string>(13).fill(image), 'validation_failed', /^\/masks must .* 12/],
      [image, 'validation_failed', /^\/masks must be a list/],
    ] as const) {
      const { body } = expectStatus(await client.post(ENHANCE, { image, masks }), 400, code)
      assert.match((body as unknown as { details: string[] }).details.join(), message)
    }
  })

  /** Runs the command line, and returns what it prints. */
  const runKiln = async (...args: string[]): Promise<string> => {
    const own = { KILN_URL: service.baseUrl, KILN_TOKEN: await service.token('alice') }
    const options = { cwd: ROOT, env: { ...env, ...own } }
    const ran = promisify(execFile)(process.execPath, ['tools/kiln.mjs', ...args], options)
    return (await ran).stdout
  }

  test('is run by the command line, which gives lists of one file and of several', async () => {
    await untilListed(client, 'enhance')
    const file = join(folder, 'one.png')
    await writeFile(file, await makePicture())
    for (const masks of [[`masks=${file}`], [`masks=${file}`, `masks=${file}`]]) {
      const result = join(folder, `${masks.length}.png`)
      await runKiln('run', 'enhance', file, ...masks, '-o', result)
      assert.equal(lastMasks().length, masks.length)
    }
  })

  test('is listed by the command line with what counts of its fields', async () => {
    await untilListed(client, 'enhance')
    const stdout = await runKiln('templates')
    for (const line of [
      'words  list of string',
      'masks  list of picture',
      'kiln_priority  integer -3 to 3',
    ])
      assert.ok(stdout.includes(`  ${line}\n`), stdout)
  })

  test('makes the videos of the interface, of a prompt and of a picture', async () => {
    const clip = await makeClip()
    film.outcomes.push({ output: clip }, { output: clip })
    const body = { prompt: 'a red sea', duration: 4 }
    for (const more of [{}, { images: [`data:image/png;base64,${await base64()}`] }]) {
      const id = await client.createVideo({ ...body, ...more })
      const { state, creations } = await client.untilVideoEnded(id)
      assert.equal(state, 'success')
      assert.deepEqual(creations[0]?.video.resolution, { width: 64, height: 48 })
    }
    assert.deepEqual(
      film.begun.map(({ input: { start, ...input } }) => [input, String(start).slice(0, 15)]),
      [
        [{ prompt: 'a red sea', seconds: 4 }, 'undefined'],
        [{ prompt: 'a red sea', seconds: 4 }, 'data:image/png;'],
      ],
    )
  })

  test('has a line of the doctor', async () => {
    const config = {
      ENGINES_HTTP_TOKENS: [],
      IMAGE_ENGINE: 'local',
      VIDEO_ENGINE: 'local',
      OUTBOUND_PORTS: [],
      OUTBOUND_DENY: [],
      OUTBOUND_PROXY: '',
      ENGINES: ['upscale:http:enhance'],
      ENGINES_HTTP: [`enhance=${fake.url} http://127.0.0.1:1`, 'away=http://127.0.0.1:1'],
      VENDOR_IMAGE_URL: `${fake.url},upscale=http://127.0.0.1:1`,
      VENDOR_IMAGE_KEY: 'key',
      VENDOR_VIDEO_URL: '',
      VENDOR_VIDEO_KEY: '',
    }
    const checks = makeEngineChecks({ config: config as unknown as Config, sql: () => service.sql })
    const { lines } = await examine(checks, { issues: [], limitMs: PATIENCE_MS })
    assert.match(
      lines[1] ?? '',
      /^ok +engine enhance +takes image, scale, words, masks; 1 of 2 respond; renders upscale; enhance@127.0.0.1:1: /,
    )
    assert.match(lines[2] ?? '', /^ERROR +engine away +away@127.0.0.1:1: .*ENGINES_HTTP$/)
    assert.match(
      lines[3] ?? '',
      /^ok +upstream image +127.0.0.1:\d+ \(VENDOR_IMAGE_URL\) responds, /,
    )
    assert.match(
      lines[4] ?? '',
      /^ERROR +upstream upscale +127.0.0.1:1 \(VENDOR_IMAGE_URL\): .*: start it, or correct VENDOR_IMAGE_URL$/,
    )
    assert.match(lines[5] ?? '', /^ERROR +engines +the engine away is no template yet: /)
  })

  test('is named while it was never reached, to callers and to operators', async () => {
    const away = await waitFor('its absence is explained', async () => {
      const response = await client.post('/templates/away/tasks', {})
      const { body } = expectStatus(response, 404, 'template_not_found')
      return body.message?.startsWith('The template "away" is not there yet: its engine') && body
    })
    assert.equal(JSON.stringify(away).includes('127.0.0.1'), false, 'no address')
    const { body } = expectStatus(await service.client('root').get('/admin/operations'), 200)
    const problems = body['problems'] as unknown as { dependency: string; message: string }[]
    assert.match(
      problems.find(({ dependency }) => dependency === 'engines')?.message ?? '',
      /^the engine away is no template yet: away@127.0.0.1:1 does not respond: .*; start it, or correct ENGINES_HTTP$/,
    )
    const none = await client.post('/templates/none/tasks', {})
    assert.match(
      expectStatus(none, 404, 'template_not_found').body.message ?? '',
      /^There is no template "none"/,
    )
  })

  test('makes a kind of the interface that ENGINES gives to it', async () => {
    const path = '/proxy/imgvendor/v1/ai/image-upscaler'
    const id = await create(path, { image: await base64(), scale_factor: '4x' })
    assert.equal((await client.untilEndedAt(path, id)).status, 'COMPLETED')
    assert.equal(fake.begun.at(-1)?.input['scale'], 4)
  })

  test('has no webhook without its secret, and none after the end', async () => {
    await untilListed(client, 'enhance')
    fake.hold()
    const id = await create(ENHANCE, { image: await base64() })
    const begun = await waitFor('it runs', () =>
      fake.begun.find((one) => one.id !== undefined && fake.running().includes(one.id)),
    )
    const { webhook = '' } = begun
    const send = async (url: string, body: object): Promise<number> => {
      const headers = { 'content-type': 'application/json' }
      const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
      await response.arrayBuffer()
      return response.status
    }
    const state = { id: begun.id, status: 'processing', logs: ' 30%|#| 3/10' }
    assert.equal(await send(`${webhook.slice(0, -2)}AA`, state), 404)
    assert.equal(await send(webhook, { status: 5 }), 400)
    assert.equal(await send(webhook, { ...state, id: 'other' }), 400)
    assert.equal(await send(webhook, state), 200)
    await waitFor('its progress is shown', async () => (await readTask(id)).progress === 30)
    assert.equal((await readTask(id)).log, ' 30%|#| 3/10')
    fake.release()
    assert.equal((await client.untilEndedAt(ENHANCE, id)).status, 'COMPLETED')
    assert.equal(await send(webhook, { ...state, status: 'failed' }), 404)
  })

  test('has a log for its caller, without the stack that admins read', async () => {
    await untilListed(client, 'enhance')
    const logs = 'read\nTraceback (most recent call last):\n  File "/srv/enhance.py", line 3\n'
    fake.outcomes.push({ status: 'failed', error: 'Final: no face', logs })
    const id = await create(ENHANCE, { image: await base64() })
    const { error } = await client.untilEndedAt(ENHANCE, id)
    assert.match(
      error?.message ?? '',
      /^The engine rejected the task\. Operators read why by kiln /,
    )
    assert.equal((await readTask(id)).log, 'read\n')
    const { body } = expectStatus(await service.client('root').get(`/tasks/${id}`), 200)
    assert.deepEqual([body['log'], body['engine_error']], [logs, 'Final: no face'])
  })

  test('is shown to admins beside its tasks, and drained by the name of an instance', async () => {
    const root = service.client('root')
    await untilListed(client, 'enhance')
    const name = `enhance@${new URL(fake.url).host}`
    const instance = await waitFor('it is looked after', async () => {
      const all = listOf<{ name: string; state: string; engine?: string }>(
        await root.get('/admin/instances'),
        'instances',
      )
      return all.find((one) => one.name === name && one.state === 'ready')
    })
    assert.equal(instance.engine, 'enhance')
  })

  test('pauses by its name', async () => {
    const root = service.client('root')
    await untilListed(client, 'enhance')
    expectStatus(await root.put('/admin/pauses/engine:enhance', { reason: 'a repair' }), 200)
    const id = await create(ENHANCE, { image: await base64() })
    assert.match(String((await readTask(id)).waits_for), /a repair/)
    expectStatus(await root.delete('/admin/pauses/engine:enhance'), 204)
    assert.equal((await client.untilEndedAt(ENHANCE, id)).status, 'COMPLETED')
  })

  test('is a function of Python', { skip }, async () => {
    const { path, body } = await untilListed(client, 'shade')
    const { size, mode } = body.properties
    assert.deepEqual(
      [size?.['maximum'], size?.['description']],
      [64, 'Width and height in pixels.'],
    )
    assert.deepEqual(mode?.['enum'], ['plain', 'fail'])
    const image = await base64()
    const [good, bad] = [
      await create(path, { image, size: 16, masks: [image, image] }),
      await create(path, { image, mode: 'fail' }),
    ]
    const made = await client.untilEndedAt(path, good)
    assert.deepEqual([made.status, made.generated.length], ['COMPLETED', 1])
    assert.match(String((await readTask(good)).log), /^read True True True\n 50%\|#+ +\| 1\/2\n$/)
    const failed = await client.untilEndedAt(path, bad)
    assert.equal(failed.status, 'FAILED')
    assert.ok(!JSON.stringify(failed).includes('as it was asked'))
  })
})
