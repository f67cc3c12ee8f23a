import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import { CancelledFailure } from '@temporalio/activity'

import type { MediaDependencies } from '../../support/media.ts'
import { mean, useStudio } from '../../../packages/engines/test/video/studio.ts'
import { makeLocalVideoEngine } from '../../../src/engines/video-engine/local.ts'
import { sha256Of } from '../../support/digest.ts'
import { useReceiver } from '../../support/network.ts'
import { makePicture } from '../../support/pictures.ts'
import {
  again,
  cancelRun,
  intercept,
  losing,
  makeEnvironment,
  usePlace,
  type Done,
} from '../../tasks/activities/place.ts'
import {
  EXTEND,
  makeVideoEngine,
  renderVideo,
  VIDEO_TIMING,
} from '../../tasks/activities/video-engine.ts'
import type { VideoWork } from '../../tasks/activities/video-engine.ts'
import {
  getVideo,
  seeVideo,
  enterVideo,
  type NewVideo,
} from '../../tasks/activities/video-place.ts'

describe('an attempt to render a video', () => {
  const studio = useStudio()
  const place = usePlace()
  let deps: MediaDependencies
  /** Files that the receiver serves by path, and the paths that were requested. */
  const served = new Map<string, Buffer>()
  const asked: string[] = []
  const receiver = useReceiver(({ url = '' }, response) => {
    asked.push(url)
    response.end(served.get(url))
  })

  before(async () => {
    const videoEngine = makeLocalVideoEngine({ binaries: studio.binaries, maxPixels: 1e6 })
    deps = { ...place.deps, videoEngine }
    served.set('/tall.png', await makePicture({ width: 120, height: 200 }))
    served.set('/mark.png', await makePicture({ width: 40, height: 20, shade: 90 }))
    served.set('/source.mp4', await readFile(makeSource('source.mp4')))
  })

  /** A video of 4 s, long enough to be continued. */
  const makeSource = (name: string): string => {
    const path = join(studio.dir, name)
    const card = ['-f', 'lavfi', '-i', 'testsrc=size=96x64:rate=24:duration=4']
    studio.ffmpeg(...card, '-pix_fmt', 'yuv420p', '-preset', 'ultrafast', path)
    return path
  }
  const url = (path: string): string => `http://127.0.0.1:${receiver.port}${path}`
  const withEngine = (work: VideoWork): MediaDependencies => ({
    ...deps,
    videoEngine: makeVideoEngine(work),
  })
  const admit = async (given: NewVideo = {}): Promise<string> => {
    const id = await getVideo(place.database, { owner: randomUUID(), ...given })
    await enterVideo(place.deps, id, 1)
    return id
  }
  const render = async (id: string, using = deps): Promise<Done> => {
    const rendered = await renderVideo(using, id)
    assert.ok(rendered, 'it is done')
    return rendered
  }
  /** The files of a finished task by their names, as they are in the store. */
  const readStored = async (id: string, { fence, results }: Done) => {
    const files = new Map<string, string>()
    for (const { name, storageKey, bytes, sha256 } of results) {
      assert.equal(storageKey, `results/${id}/${fence}/${name}`)
      const path = join(studio.dir, randomUUID())
      await deps.storage.fetchToFile(storageKey, path)
      const content = await readFile(path)
      assert.equal(content.length, bytes)
      assert.equal(sha256Of(content), sha256)
      files.set(name, path)
    }
    return files
  }
  const shapeOf = (path = '') => {
    const [video] = studio.probe(path).streams
    return { frames: Number(video?.nb_frames), width: video?.width, height: video?.height }
  }
  const TINY = { frames: 8, width: 96, height: 64 }
  const CREATION = { seconds: 8 / 24, fps: 24, width: 96, height: 64 }

  test('makes a scene, stores it under its fence, and completes the task', async () => {
    const id = await admit()
    const rendered = await render(id)
    assert.deepEqual([rendered.fence, rendered.creation], [1, CREATION])
    const files = await readStored(id, rendered)
    assert.deepEqual([...files.keys()], ['video.mp4', 'cover.jpg'])
    assert.deepEqual(shapeOf(files.get('video.mp4')), TINY)
    assert.equal(shapeOf(files.get('cover.jpg')).width, 96)
    const { state, fence, failures, events, ledger } = await seeVideo(place.database, id)
    assert.deepEqual([state, fence, failures, ledger], ['success', 1, 0, ['charge 10']])
    assert.deepEqual(events, ['created', 'queueing', 'processing', 'success'])
  })

  test('makes the same bytes when it is repeated, under a fence of its own and without an event', async () => {
    const id = await admit()
    await assert.rejects(renderVideo(losing(deps), id), again('attempt_failed'))
    const { progress } = await seeVideo(place.database, id)
    assert.ok(progress > 0 && progress < 100, `${progress} %`)
    const before = new Map<string, string>()
    for (const name of ['video.mp4', 'cover.jpg']) {
      const path = join(studio.dir, randomUUID())
      await deps.storage.fetchToFile(`results/${id}/1/${name}`, path)
      before.set(name, sha256Of(await readFile(path)))
    }
    const { fence, results } = await render(id)
    assert.equal(fence, 2)
    assert.deepEqual(new Map(results.map(({ name, sha256 }) => [name, sha256])), before)
    const { events } = await seeVideo(place.database, id)
    assert.deepEqual(events, ['created', 'queueing', 'processing', 'success'])
  })

  test('begins with a start image that came with the request', async () => {
    const id = randomUUID()
    const storageKey = `inputs/${id}/images.png`
    await deps.storage.putFile(storageKey, await studio.paint('#e67828', 64, 36))
    const image = { field: 'images', name: 'input-images.png', storageKey, width: 64, height: 36 }
    await admit({ id, inputs: [image] })
    const files = await readStored(id, await render(id))
    const first = studio.first(files.get('video.mp4'))
    for (const [channel, level] of [230, 120, 40].entries()) {
      const found = mean(first, channel as 0 | 1 | 2)
      assert.ok(Math.abs(found - level) < 6, `channel ${channel}: ${found} instead of ${level}`)
    }
  })

  test('begins with a start image of an address, in its shape, and fetches it once', async () => {
    asked.length = 0
    let size: unknown
    const id = await admit({ inputs: [{ field: 'images', url: url('/tall.png') }] })
    const broken = withEngine((job) => {
      size = [job.width, job.height]
      throw new Error('broken')
    })
    await assert.rejects(renderVideo(broken, id), again('attempt_failed'))
    assert.deepEqual(size, [1080, 1800])
    assert.equal((await render(id)).results.length, 2)
    assert.deepEqual(asked, ['/tall.png'])
  })

  test('puts a mark into a copy only, and leaves the other as it is without', async () => {
    const settings = { model: 'videoq1', duration: 5, resolution: '1080p', aspect_ratio: '16:9' }
    const common = { audio: false, audio_type: 'all', bgm: false, seed: 7, style: 'general' }
    const plain = { ...settings, ...common, movement_amplitude: 'auto', prompt: 'x' }
    const marked = { ...plain, watermark: true, wm_position: 1 }
    const mark = { field: 'wm_url', url: url('/mark.png') }
    const digestsOf = async (given: NewVideo) => {
      const { results } = await render(await admit(given))
      return Object.fromEntries(results.map(({ name, sha256 }) => [name, sha256]))
    }
    const bare = await digestsOf({ settings: plain })
    const videos = [bare['video.mp4']]
    for (const inputs of [[], [mark]]) {
      const { 'watermarked.mp4': copy, ...rest } = await digestsOf({ settings: marked, inputs })
      assert.deepEqual(rest, bare)
      videos.push(copy)
    }
    assert.equal(new Set(videos.filter(Boolean)).size, 3)
  })

  test('continues a video of this service, however short, which it does not fetch', async () => {
    asked.length = 0
    const [made] = (await render(await admit())).results
    const storageKey = String(made?.storageKey)
    const id = await admit({ ...EXTEND, inputs: [{ field: 'video_creation_id', storageKey }] })
    const rendered = await render(id)
    const files = await readStored(id, rendered)
    assert.deepEqual(shapeOf(files.get('video.mp4')), { ...TINY, frames: 8 + 8 })
    assert.equal(rendered.creation?.seconds, 16 / 24)
    assert.deepEqual(asked, [])
    assert.ok(await deps.storage.stat(storageKey), 'the source is still there')
  })

  test('continues a video of an address, up to an end image', async () => {
    const inputs = [
      { field: 'video_url', url: url('/source.mp4') },
      { field: 'images', url: url('/tall.png') },
    ]
    const id = await admit({ ...EXTEND, inputs })
    const files = await readStored(id, await render(id))
    assert.deepEqual(shapeOf(files.get('video.mp4')), { ...TINY, frames: 96 + 8 })
    const frames = studio.decode(files.get('video.mp4') ?? '')
    assert.notDeepEqual(frames.at(-1), frames[95], 'it ends on another picture')
    const [row] = await place.deps.sql`
      select storage_key from task_input where task_id = ${id} and field = 'video_url'
    `
    assert.match(String(row?.['storage_key']), new RegExp(`^inputs/${id}/video_url-\\w+\\.mp4$`))
  })

  test('chooses the size of an extension by its source', async () => {
    const sizes: number[][] = []
    const recording = withEngine((job) => void sizes.push([job.width, job.height]))
    recording.videoEngine.probeSource = deps.videoEngine.probeSource
    const inputs = [{ field: 'video_url', url: url('/source.mp4') }]
    await renderVideo(recording, await admit({ ...EXTEND, inputs }))
    assert.deepEqual(sizes, [[810, 540]])
  })

  test('reports its progress to the operator and in the row', async (context) => {
    context.mock.timers.enable({ apis: ['Date'], now: Date.now() })
    const id = await admit()
    const environment = makeEnvironment()
    let details: unknown
    const slow = withEngine(async (_job, { onProgress }) => {
      for (const percent of [0, 41, 99]) onProgress(percent)
      ;[details] = (await once(environment, 'heartbeat')) as [unknown]
    })
    const timing = { ...VIDEO_TIMING, heartbeatSeconds: 0.2 }
    await assert.rejects(renderVideo(losing(slow), id, { environment, timing }))
    assert.deepEqual(details, { step: 'rendering', percent: 99 })
    // The second one came within the same second.
    assert.equal((await seeVideo(place.database, id)).progress, 41)
  })

  test('renders although its progress cannot be written', async () => {
    const id = await admit()
    let lost = 0
    const sql = intercept(place.deps.sql, 'progress', () => {
      lost += 1
      return Promise.reject(new Error('it cannot be written'))
    })
    const blind = withEngine((_job, { onProgress }) => onProgress(50))
    assert.equal((await renderVideo({ ...blind, sql }, id))?.fence, 1)
    assert.equal(lost, 1)
  })

  test('ends its programs when the task is cancelled', async () => {
    const id = await admit()
    const environment = makeEnvironment()
    const render: typeof deps.videoEngine.render = (job, control) => {
      const onProgress = (percent: number) => {
        control.onProgress(percent)
        if (percent > 0) cancelRun(environment)
      }
      return deps.videoEngine.render(job, { ...control, onProgress })
    }
    const inChild = { ...deps, tinyVideos: false, videoEngine: { ...deps.videoEngine, render } }
    await assert.rejects(renderVideo(inChild, id, { environment }), CancelledFailure)
    assert.equal((await seeVideo(place.database, id)).failures, 0)
    assert.deepEqual(await deps.storage.list(`results/${id}`), [])
  })
})
