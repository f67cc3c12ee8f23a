import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import type { MediaDependencies } from '../../support/media.ts'
import { makeTaskTransitions } from '../../../activities/tasks/task.ts'
import { makeDatabase } from '../../../src/platform/db/client.ts'
import { makeLocalVideoEngine } from '../../../src/engines/video-engine/local.ts'
import { TASK_ERRORS } from '../../../src/tasks/domain/task-error.ts'
import { VIDEO_ERRORS } from '../../../src/tasks/domain/video/video-error.ts'
import { useStudio } from '../../../packages/engines/test/video/studio.ts'
import { useReceiver } from '../../support/network.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { makePicture } from '../../support/pictures.ts'
import { PATIENT } from '../../support/template.ts'
import { use } from '../../support/use.ts'
import { makeEnvironment, usePlace } from '../../tasks/activities/place.ts'
import {
  EXTEND,
  failForGood,
  makeVideoEngine,
  renderVideo,
  VIDEO_TIMING,
} from '../../tasks/activities/video-engine.ts'
import {
  enterVideo,
  getVideo,
  seeVideo,
  type NewVideo,
} from '../../tasks/activities/video-place.ts'

const FAILURE = 'InternalServiceFailure'

const listCases = <Case extends unknown[]>(byCode: Record<string, Case[]>) =>
  Object.entries(byCode).flatMap(([code, cases]) => cases.map((each) => [code, ...each] as const))

describe('a video task whose', () => {
  const studio = useStudio()
  const place = usePlace()
  let deps: MediaDependencies
  const transitions = use(() => makeTaskTransitions(place.deps))
  const served = new Map<string, Buffer>()
  const receiver = useReceiver(({ url = '' }, response) => {
    if (url === '/silent') return
    if (url === '/moved') response.writeHead(302, { location: '/text' }).end()
    else if (served.has(url)) response.end(served.get(url))
    else response.writeHead(404).end()
  })

  before(async () => {
    const videoEngine = makeLocalVideoEngine({ binaries: studio.binaries, maxPixels: 1e6 })
    deps = { ...place.deps, videoEngine, limits: limitsOf(PATIENCE_MS) }
    served.set('/text', Buffer.from('plain text'))
    served.set('/picture', await makePicture())
    served.set('/huge', Buffer.alloc(300_001))
    served.set('/many-pixels', await makePicture({ width: 1001, height: 1000 }))
    served.set('/long', await makePicture({ width: 401, height: 100 }))
    served.set('/cut', (await makePicture({ width: 200, height: 200 })).subarray(0, 1000))
    served.set('/short', makeSource('short.mp4', '-t', '2'))
    served.set('/deaf', makeSource('deaf.mp4', '-vn', '-t', '5'))
    served.set('/source', makeSource('source.mp4', '-t', '4'))
  })

  const limitsOf = (timeoutMs: number): MediaDependencies['limits'] => {
    const { limits } = place.deps
    return {
      ...limits,
      image: { ...limits.image, maxBytes: 200_000, timeoutMs },
      watermark: { ...limits.watermark, maxBytes: 1000, timeoutMs },
      video: { ...limits.video, maxBytes: 300_000, timeoutMs },
    }
  }
  /** Waits a moment only where nothing ever comes. */
  const depsFor = (path: string): MediaDependencies =>
    path === '/silent' ? { ...deps, limits: limitsOf(100) } : deps
  const makeSource = (name: string, ...args: string[]): Buffer => {
    const path = join(studio.dir, name)
    const card = ['-f', 'lavfi', '-i', 'testsrc=size=64x36:rate=24']
    const tone = ['-f', 'lavfi', '-i', 'sine']
    studio.ffmpeg(...card, ...tone, '-pix_fmt', 'yuv420p', ...args, path)
    return readFileSync(path)
  }
  const admit = async (given: NewVideo = {}): Promise<string> => {
    const id = await getVideo(place.database, { owner: randomUUID(), ...given })
    await enterVideo(place.database, id, 1)
    return id
  }
  /** Returns the code and message that the caller gets, and the attempts it took, after the workflow's transition. */
  const endOf = async (id: string, using = deps, options?: Parameters<typeof renderVideo>[2]) => {
    const { attempts, ...reason } = await failForGood(using, id, options)
    await transitions.failTask({ taskId: id, family: 'video' }, reason)
    const { errorCode, errorMessage, ledger, events } = await seeVideo(place.database, id)
    assert.deepEqual(ledger, ['charge 10', 'refund 10'])
    assert.deepEqual(events, ['created', 'queueing', 'processing', 'failed'])
    assert.deepEqual(await deps.storage.list(`results/${id}`), [])
    return [errorCode, errorMessage, attempts]
  }

  const TOO_MANY = ': The image has 1001 × 1000 pixels, more than 1000000 in all.'
  /** By their codes. */
  const IMAGES: Record<string, [what: string, path: string, expected: string][]> = {
    ImageDownloadFailure: [
      ['is not there', '/none', ': responded with status 404'],
      ['does not come', '/silent', ': no complete response within 0.1 seconds'],
      ['is elsewhere', '/moved', ': more than 0 redirects'],
      [
        'is on a closed port',
        ':9/',
        ': no connection could be made: the port is closed (127.0.0.1:9)',
      ],
      ['is at a private address', 'https://10.0.0.1/x', ''],
      ['is at a link-local address', 'https://169.254.169.254/', ''],
    ],
    PageSizeOutOfRange: [['is too big', '/huge', ': over the limit of 200,000 bytes']],
    ImageFormatInvalid: [
      ['is none', '/text', ': The file is not a JPEG, PNG, WebP, AVIF, TIFF or GIF image.'],
    ],
    ImageSizeInvalid: [
      ['has too many pixels', '/many-pixels', TOO_MANY],
      ['is too long', '/long', ' must have an aspect ratio from 1:4 to 4:1, got 401×100'],
    ],
  }
  const address = (path: string): string => {
    if (path.startsWith('/')) return `http://127.0.0.1:${receiver.port}${path}`
    return path.startsWith(':') ? `http://127.0.0.1${path}` : path
  }
  for (const [code, what, path, expected] of listCases(IMAGES))
    test(`start image ${what} ends at once with ${code}`, async () => {
      const id = await admit({ inputs: [{ field: 'images', url: address(path) }] })
      const message = expected === '' ? 'address not allowed' : `/images/0${expected}`
      assert.deepEqual(await endOf(id, depsFor(path)), [code, message, 1])
    })

  test('start image breaks off ends at once with ImageFormatInvalid', async () => {
    const id = await admit({ inputs: [{ field: 'images', url: address('/cut') }] })
    assert.deepEqual(await endOf(id), ['ImageFormatInvalid', VIDEO_ERRORS.ImageFormatInvalid, 1])
  })

  test('end image is no image ends at once with ImageFormatInvalid', async () => {
    const inputs = [
      { field: 'images', url: address('/text') },
      { field: 'video_url', url: address('/source') },
    ]
    const [code, message] = await endOf(await admit({ ...EXTEND, inputs }))
    assert.equal(code, 'ImageFormatInvalid')
    assert.match(String(message), /^\/images\/0: /)
  })

  test('watermark is over its own limit ends at once with PageSizeOutOfRange', async () => {
    served.set('/mark', await makePicture({ width: 200, height: 200, format: 'tiff' }))
    const id = await admit({ inputs: [{ field: 'wm_url', url: address('/mark') }] })
    const expected = '/wm_url: over the limit of 1,000 bytes'
    assert.deepEqual(await endOf(id), ['PageSizeOutOfRange', expected, 1])
  })

  const VIDEOS: typeof IMAGES = {
    VideoDownloadFailure: [
      ['is not there', '/none', '/video_url: responded with status 404'],
      ['does not come', '/silent', '/video_url: no complete response within 0.1 seconds'],
      ['is at a private address', 'https://[fd00::1]/', 'address not allowed'],
    ],
    VideoFormatInvalid: [
      ['is too big', '/huge', '/video_url: over the limit of 300,000 bytes'],
      ['is a picture', '/picture', 'The source video is not MP4, MOV, Matroska or WebM.'],
      ['is too short', '/short', 'The source video must be 4 to 60 s long, got 2.00 s.'],
      ['is sound only', '/deaf', 'The source video has no video stream.'],
    ],
  }
  for (const [code, what, path, expected] of listCases(VIDEOS))
    test(`source ${what} ends at once with ${code}`, async () => {
      const id = await admit({ ...EXTEND, inputs: [{ field: 'video_url', url: address(path) }] })
      assert.deepEqual(await endOf(id, depsFor(path)), [code, expected, 1])
    })

  test('source was removed ends at once with VideoDownloadFailure', async () => {
    const storageKey = `results/${randomUUID()}/1/video.mp4`
    const id = await admit({ ...EXTEND, inputs: [{ field: 'video_creation_id', storageKey }] })
    const expected = '/video_creation_id names a file that is no longer there'
    assert.deepEqual(await endOf(id), ['VideoDownloadFailure', expected, 1])
  })

  test('source is a stored file over the limit ends at once with VideoFormatInvalid', async () => {
    const storageKey = `inputs/${randomUUID()}/x`
    const path = join(place.root, randomUUID())
    await writeFile(path, Buffer.alloc(300_001))
    await deps.storage.putFile(storageKey, path)
    const id = await admit({ ...EXTEND, inputs: [{ field: 'video_url', storageKey, url: 'x' }] })
    const expected = '/video_url: over the limit of 300,000 bytes'
    assert.deepEqual(await endOf(id), ['VideoFormatInvalid', expected, 1])
  })

  test('source no program may read ends at once with ModelUnavailable', async () => {
    const binaries = { ...studio.binaries, readsCallerVideo: false }
    const unfit = { ...deps, videoEngine: makeLocalVideoEngine({ binaries, maxPixels: 1e6 }) }
    const inputs = [{ field: 'video_url', url: address('/source') }]
    const id = await admit({ ...EXTEND, inputs })
    assert.deepEqual(await endOf(id, unfit), ['ModelUnavailable', VIDEO_ERRORS.ModelUnavailable, 1])
    const scene = await admit()
    assert.equal((await renderVideo(unfit, scene))?.fence, 1, 'all else is rendered')
  })

  const failing = (cause: Error) => () => Promise.reject(cause)

  test('source cannot be probed three times ends with InternalServiceFailure', async () => {
    const videoEngine = { ...makeVideoEngine(), probeSource: failing(new Error('killed')) }
    const inputs = [{ field: 'video_url', url: address('/source') }]
    const end = await endOf(await admit({ ...EXTEND, inputs }), { ...deps, videoEngine })
    assert.deepEqual(end, [FAILURE, TASK_ERRORS.internal_error, 3])
  })

  test('real engine is too slow ends at the deadline', async () => {
    const id = await admit()
    const large = { ...deps, tinyVideos: false }
    const timing = { ...VIDEO_TIMING, deadlineSeconds: 0.7 }
    assert.deepEqual(await endOf(id, large, { timing }), [FAILURE, TASK_ERRORS.timeout, 1])
  })

  test('worker loses PostgreSQL is tried on, and that counts for nothing', async () => {
    const id = await admit()
    const beats: unknown[] = []
    const sql = makeDatabase({ ...PATIENT, url: place.database.url })
    const videoEngine = makeVideoEngine(async () => {
      await sql.end()
      throw new Error('its program was ended, too')
    })
    const lose = async (attempt: number, outages: number) => {
      const environment = makeEnvironment({ attempt, heartbeatDetails: { outages } })
      environment.on('heartbeat', (details) => beats.push(details))
      const unlucky = { ...deps, sql, videoEngine }
      const options = { environment, admission: 1 }
      await assert.rejects(renderVideo(unlucky, id, options), { type: 'unavailable' })
    }
    await lose(11, 1)
    assert.deepEqual(beats.at(-1), { step: 'rendering', percent: 0, outages: 2 })
    await lose(12, 2)
    assert.deepEqual(beats.at(-1), { outages: 3 }, 'before it could claim the task')
    const [heartbeatDetails] = beats.slice(-1)
    const next = makeEnvironment({ attempt: 13, heartbeatDetails })
    assert.equal((await renderVideo(deps, id, { environment: next }))?.fence, 2)
  })

  test('engine finds no room is tried on, and that counts for nothing', async () => {
    const id = await admit()
    const full = Object.assign(new Error('it ended with code 228'), { code: 'ENOSPC' })
    const videoEngine = makeVideoEngine(failing(full))
    for (let attempt = 1; attempt <= 4; attempt += 1)
      await assert.rejects(renderVideo({ ...deps, videoEngine }, id), { type: 'unavailable' })
    assert.equal((await renderVideo(deps, id))?.fence, 5)
  })

  test('job is started again after an outage has all its attempts', async () => {
    const id = await admit()
    await place.deps.sql`update task set fence = 60 where id = ${id}`
    assert.equal((await renderVideo(deps, id))?.fence, 61)
  })
})
