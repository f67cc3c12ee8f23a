import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'

import sharp from 'sharp'

import { readAnimation } from '../../../packages/engines/src/animation.ts'
import { probeImage } from '../../../packages/engines/src/image-probe.ts'
import { codePath } from '../../../src/local/root.ts'
import { VIDEO_PREFIX } from '../../../src/tasks/domain/video/video-path.ts'
import { FILM, makeGraph, makePortrait, makeTemplateFolder } from '../../support/comfyui/custom.ts'
import { startFakeComfy, type FakeComfy } from '../../support/comfyui/fake.ts'
import { expectStatus } from '../../support/client.ts'
import type { TaskRecord } from '../../support/client.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { untilListed, type Listed } from './listed.ts'

let fake: FakeComfy
let folder: Awaited<ReturnType<typeof makeTemplateFolder>>

const PREFIX = { filename_prefix: 'kiln' }
const LOAD = ['LoadImage', { image: 'in.png' }, 'kiln:image'] as const
const FRAMES = {
  1: LOAD,
  2: ['ImageBlur', { image: ['1', 0], blur_radius: 6, sigma: 3 }],
  3: ['ImageBatch', { image1: ['1', 0], image2: ['2', 0] }],
} as const
const WEBP = { images: ['3', 0], ...PREFIX, lossless: true, quality: 80, method: 'default' }
const SAVE_VIDEO = { video: ['4', 0], ...PREFIX, format: 'mp4', codec: 'h264' }

/** A result of every sort, of two frames where it moves. */
const EVERYTHING = makeGraph({
  ...FRAMES,
  4: ['CreateVideo', { images: ['3', 0], fps: 12 }],
  5: ['EmptyAudio', { duration: 0.2, sample_rate: 44_100, channels: 2 }],
  6: ['PrimitiveString', { value: 'a quiet sea' }, 'kiln:prompt'],
  10: ['SaveImage', { images: ['3', 0], ...PREFIX }, 'kiln:result=still'],
  11: ['SaveAnimatedWEBP', { ...WEBP, fps: 10 }, 'kiln:result=loop'],
  12: [
    'SaveAnimatedPNG',
    { images: ['3', 0], ...PREFIX, fps: 10, compress_level: 4 },
    'kiln:result=sticker',
  ],
  13: ['SaveVideo', SAVE_VIDEO, 'kiln:result=film'],
  14: ['SaveAudio', { audio: ['5', 0], ...PREFIX }, 'kiln:result=tone'],
  15: ['PreviewAny', { source: ['6', 0] }, 'kiln:result=caption'],
})

/** A video and an animation. */
const TWO_FILMS = makeGraph({
  1: ['LoadImage', { image: 'in.png' }, 'kiln:start'],
  2: ['PrimitiveStringMultiline', { value: 'a sea' }, 'kiln:prompt'],
  3: ['RepeatImageBatch', { image: ['1', 0], amount: 12 }],
  4: ['CreateVideo', { images: ['3', 0], fps: 12 }],
  8: ['SaveVideo', SAVE_VIDEO, 'kiln:result'],
  // Encoders join equal frames to one.
  5: ['ImageBlur', { image: ['1', 0], blur_radius: 6, sigma: 3 }],
  6: ['ImageBatch', { image1: ['1', 0], image2: ['5', 0] }],
  9: ['SaveAnimatedWEBP', { ...WEBP, images: ['6', 0], fps: 4 }, 'kiln:result'],
})

const service = useService(
  async () => {
    fake = await startFakeComfy()
    folder = await makeTemplateFolder()
    await folder.write('portrait', makePortrait())
    await folder.write('everything', EVERYTHING)
    await folder.write('film', FILM)
    await folder.write('film.map', '{"limits":{"owners":["bob"]}}')
    await folder.write('hasty', makePortrait())
    await folder.write('hasty.map', '{"limits":{"deadline_seconds":3}}')
    await folder.write('single', makePortrait())
    await folder.write('single.map', '{"limits":{"at_once":1}}')
    await writeFile(join(folder.folder, 'text2video+start.json'), TWO_FILMS)
    return {
      roles: ['api', 'core'],
      env: {
        VIDEO_ENGINE: 'comfyui',
        COMFYUI_URLS: `gpu1=${fake.url}`,
        COMFYUI_TEMPLATES: folder.folder,
      },
    }
  },
  async () => {
    for (const name of ['portrait', 'everything', 'hasty', 'single'])
      await untilListed(client, name)
  },
)
const client = service.client('alice')
after(async () => {
  await fake.close()
  await folder.close()
})

const pathOf = (name: string): string => `/templates/${name}/tasks`
const create = async (name: string, body: object = {}): Promise<string> => {
  const image = await base64({ width: 40, height: 30 })
  return (await client.create(pathOf(name), { image, ...body })).body.data.task_id
}
const untilEnded = (name: string, id: string) => client.untilEndedAt(pathOf(name), id)
const untilPrompted = (count: number) => waitFor('a prompt', () => fake.prompted.length === count)
const read = async (url: string) => {
  const response = await fetch(url)
  const bytes = Buffer.from(await response.arrayBuffer())
  return { bytes, type: response.headers.get('content-type') }
}

interface Detail {
  waits_for?: string
  template?: { name: string; version: string; first_seen_at: string }
  results: { name: string; content_type: string; width?: number }[]
  warnings?: string[]
}
const detailOf = async (id: string): Promise<Detail> =>
  (await client.get(`/tasks/${id}`)).body as unknown as Detail

describe('results of a template', () => {
  test('are all that was made, in order and by their names, without the graph', async () => {
    const id = await create('everything')
    const { status, generated, error } = await untilEnded('everything', id)
    assert.deepEqual([status, error], ['COMPLETED', undefined])
    const { results } = await detailOf(id)
    assert.deepEqual(
      results.map(({ name, content_type: type, width }) => [name, type, width]),
      [
        ['still.png', 'image/png', 40],
        ['still-2.png', 'image/png', 40],
        ['loop.webp', 'image/webp', 40],
        ['sticker.png', 'image/png', 40],
        ['film.mp4', 'video/mp4', 40],
        ['tone.flac', 'audio/flac', undefined],
        ['caption.txt', 'text/plain; charset=utf-8', undefined],
      ],
    )
    const files = await Promise.all(generated.map(read))
    for (const { bytes } of files) assert.ok(!bytes.includes('class_type'))
    assert.equal(files[6]?.bytes.toString(), 'a quiet sea')
    assert.equal(files[5]?.type, 'audio/flac')
    for (const [index, format] of [
      [2, 'webp'],
      [3, 'png'],
    ] as const) {
      const path = join(folder.folder, `moving.${format}`)
      await writeFile(path, files[index]?.bytes ?? '')
      const probed = await probeImage(path, { maxPixels: 1e6 })
      assert.equal(await readAnimation(path, probed), format)
    }
    assert.equal((await sharp(files[2]?.bytes, { animated: true }).metadata()).pages, 2)
  })

  const FORMATS = [
    ['webp', 'webp'],
    ['jpeg', 'jpg'],
    // As the machine made it.
    ['auto', 'png'],
  ] as const
  for (const [format, extension] of FORMATS)
    test(`are encoded as ${format} where the request says so`, async () => {
      const image = await base64({ width: 40, height: 30, format: 'jpeg' })
      const id = await create('portrait', { image, kiln_output_format: format })
      assert.equal((await untilEnded('portrait', id)).status, 'COMPLETED')
      const { results } = await detailOf(id)
      assert.deepEqual(
        results.map(({ name }) => name.split('.')[1]),
        [extension],
      )
    })

  test('warn of those that a format does not change', async () => {
    const id = await create('everything', { kiln_output_format: 'webp' })
    const ended = await untilEnded('everything', id)
    assert.equal(ended.generated.length, 7)
    const said = [
      ['film.mp4', 'video/mp4'],
      ['tone.flac', 'audio/flac'],
      ['caption.txt', 'text/plain'],
    ].map(
      ([name, type]) => `/kiln_output_format is one of pictures: ${name} stays as it is, ${type}`,
    )
    assert.deepEqual(ended.warnings?.toSorted(), said.toSorted())
    assert.deepEqual((await detailOf(id)).warnings, ended.warnings)
  })

  test('of a video kind are all its videos, and animations become MP4', async () => {
    // A width of 256 makes one gradient, which a blur leaves as it is.
    const images = [await base64({ width: 250, height: 190 })]
    const body = { model: 'videoq3-turbo', images, resolution: '540p', duration: 2 }
    const { body: made } = expectStatus(await client.post(`${VIDEO_PREFIX}/img2video`, body), 200)
    const id = (made as unknown as { task_id: string }).task_id
    const path = `${VIDEO_PREFIX}/tasks/${id}/creations`
    interface Creations {
      state: string
      err_msg: string
      creations: { id: string; url: string; cover_url: string }[]
    }
    const {
      state,
      err_msg: reason,
      creations,
    } = await waitFor('the videos', async () => {
      const read = (await client.get(path)).body as unknown as Creations
      return ['success', 'failed'].includes(read.state) && read
    })
    assert.equal(state, 'success', reason)
    const names = creations.flatMap(({ url, cover_url: cover }) =>
      [url, cover].map((link) => new URL(link).pathname.split('/').at(-1)),
    )
    assert.deepEqual(names, ['video.mp4', 'cover.jpg', 'video-2.mp4', 'cover-2.jpg'])
    assert.equal(new Set(creations.map((each) => each.id)).size, 2)
    for (const { url } of creations) {
      const { bytes, type } = await read(url)
      assert.equal(type, 'video/mp4')
      assert.equal(bytes.toString('latin1', 4, 8), 'ftyp')
      assert.ok(!bytes.includes('class_type'))
    }
  })
})

describe('the progress of a task of a template', () => {
  test('is in its stream with previews, which nothing keeps, and in its record', async () => {
    fake.nodeMs = 700
    const id = await create('portrait', { radius: 5 })
    const authorization = `Bearer ${await service.token('alice')}`
    const stream = await fetch(`${service.baseUrl}/tasks/${id}/stream`, {
      headers: { authorization },
    })
    const picture = await sharp(await makePicture({ width: 300, height: 200 }))
      .jpeg()
      .toBuffer()
    const sending = setInterval(() => fake.preview(picture), 100)
    const seen = await waitFor('progress', async () => {
      const { data } = (await client.get(`${pathOf('portrait')}/${id}`)).body
      return (data as TaskRecord & { progress?: number }).progress
    })
    assert.ok(seen > 0 && seen < 100)
    const text = await stream.text()
    clearInterval(sending)
    fake.nodeMs = 0
    const events = text.split('\n\n').map((event) => event.split('\n'))
    const dataOf = (name: string) =>
      events
        .filter((lines) => lines.includes(`event: ${name}`))
        .map((lines) => JSON.parse((lines.at(-1) ?? '').slice(6)) as Record<string, unknown>)
    assert.ok(dataOf('progress').some(({ progress }) => Number(progress) > 0))
    const [preview] = dataOf('preview')
    const [, webp = ''] = String(preview?.['image']).split('data:image/webp;base64,')
    const { width, height } = await sharp(Buffer.from(webp, 'base64')).metadata()
    assert.deepEqual([width, height], [256, 171])
    assert.ok(!JSON.stringify(await detailOf(id)).includes('base64'))
    assert.equal(dataOf('end').length, 1)
  })

  test('ends at 100 % on the command line', async () => {
    await writeFile(join(folder.folder, 'photo.png'), await makePicture({ width: 20, height: 20 }))
    const command = [codePath('packages/client/src/cli/kiln.ts'), 'run', 'portrait', 'photo.png']
    const { stderr } = await promisify(execFile)(process.execPath, command, {
      cwd: folder.folder,
      env: {
        ...process.env,
        KILN_URL: service.baseUrl,
        KILN_TOKEN: await service.token('alice'),
      },
    })
    assert.match(stderr.trim().split('\n').at(-1) ?? '', /^COMPLETED 100 % /)
  })
})

describe('limits of a template', () => {
  test('name the owners who may make its tasks', async () => {
    const body = { image: await base64({ width: 20, height: 20 }), frames: 2 }
    const { message } = expectStatus(
      await client.post(pathOf('film'), body),
      403,
      'template_not_allowed',
    ).body
    assert.match(message ?? '', /film.* is for some owners alone, and .*alice.* is none of them/)
    const listFor = async (user: string) =>
      JSON.stringify((await service.client(user).get('/templates')).body)
    assert.ok(!(await listFor('alice')).includes('"film"'))
    assert.ok((await listFor('bob')).includes('"film"'))
    const bob = service.client('bob')
    const { task_id: id } = expectStatus(await bob.post(pathOf('film'), body), 200).body.data
    await waitFor('the end of the film', async () => {
      const { data } = expectStatus(await bob.get(`${pathOf('film')}/${id}`), 200).body
      return data.status === 'COMPLETED'
    })
  })

  test('end a task at their deadline, and its prompt', async () => {
    fake.hold()
    const id = await create('hasty')
    const { error } = await untilEnded('hasty', id)
    assert.equal(error?.code, 'timeout')
    const placements = await service.database.sql<{ id: string }[]>`
      select id from placement where task_id = ${id}
    `
    const running = async (): Promise<string[]> => {
      const queue = (await (await fetch(`${fake.url}/queue`)).json()) as {
        queue_running: [number, string][]
      }
      return queue.queue_running.map(([, prompt]) => prompt)
    }
    await waitFor('the end of its prompt', async () => {
      const ids = await running()
      return !placements.some((placement) => ids.includes(placement.id))
    })
    fake.release()
  })

  test('have tasks wait that are too many at once, and let the others of a caller pass', async () => {
    fake.hold()
    const before = fake.prompted.length
    const [first, second] = [await create('single'), await create('single')]
    await untilPrompted(before + 1)
    const waiting = await waitFor('one of them waits', async () => {
      for (const id of [first, second])
        if ((await detailOf(id)).waits_for?.includes('of its template run now')) return id
      return undefined
    })
    const other = await create('portrait')
    await untilPrompted(before + 2)
    assert.match((await detailOf(waiting)).waits_for ?? '', /as many tasks of its template/)
    fake.release()
    for (const [name, id] of [
      ['single', first],
      ['single', second],
      ['portrait', other],
    ] as const)
      assert.equal((await untilEnded(name, id)).status, 'COMPLETED')
  })
})

describe('the version of a template', () => {
  test('is kept with each task, and is again what it was when the file is put back', async () => {
    const made: Detail[] = []
    for (const value of [1, 2, 1]) {
      const text = makePortrait({ 5: ['PrimitiveInt', { value }, 'kiln:number'] })
      await folder.write('dated', text)
      const isRight = ({ body }: Listed) => body.properties['number']?.['default'] === value
      await untilListed(client, 'dated', isRight)
      const id = await create('dated')
      await untilEnded('dated', id)
      const detail = await detailOf(id)
      made.push(detail)
      assert.deepEqual(
        [detail.template?.name, detail.template?.version],
        ['custom/dated', createHash('sha256').update(text).digest('hex')],
      )
    }
    assert.deepEqual(made[2]?.template, made[0]?.template)
    assert.notEqual(made[1]?.template?.first_seen_at, made[0]?.template?.first_seen_at)
  })
})
