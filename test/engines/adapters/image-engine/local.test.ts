import assert from 'node:assert/strict'
import { mkdtemp, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import {
  draw,
  makeJob,
  readPixels,
  useFixture,
} from '../../../../packages/engines/test/image/fixture.ts'
import type { ImageEngine, ImageJob } from '../../../../src/engines/image-engine/image-engine.ts'
import { makeLocalImageEngine } from '../../../../src/engines/image-engine/local.ts'
import type { ImageTaskKind } from '../../../../src/tasks/domain/image/image-kind.ts'
import { TaskError, type TaskErrorCode } from '../../../../src/tasks/domain/task-error.ts'
import { use } from '../../../support/use.ts'

let sample: string
const fixture = useFixture(96, ({ samples }) => {
  sample = samples.portrait.path
})
const local = use(
  () => makeLocalImageEngine({ maxPixels: 100_000_000 }),
  (engine) => engine.close(),
)

const quiet = () => ({ signal: new AbortController().signal, onProgress: () => {} })

/** A job in a scratch folder of its own. */
const jobOf = async (kind: ImageTaskKind, path: string, given: object = {}): Promise<ImageJob> => ({
  taskId: '00000000-0000-4000-8000-000000000000',
  ...makeJob(kind, path, { scratchDir: await mkdtemp(join(fixture.dir, 'job-')), ...given }),
})

const renderFile = async (kind: ImageTaskKind, path: string, settings: object) => {
  const [image] = await local.render(await jobOf(kind, path, { settings }), quiet())
  return image ?? assert.fail('nothing was rendered')
}

/** A dark picture of this size. */
const plain = async (width: number, height: number): Promise<string> =>
  fixture.write(`${width}-${height}.png`, await draw({ width, height }, () => [9, 9, 9]))

const assertError = (job: ImageJob, code: TaskErrorCode, engine: ImageEngine = local) =>
  assert.rejects(engine.render(job, quiet()), (error: unknown) => {
    assert.ok(error instanceof TaskError, String(error))
    assert.equal(error.code, code)
    assert.ok(!error.message.includes(fixture.dir), error.message)
    return true
  })

describe('equal requests', () => {
  const grainy: [kind: ImageTaskKind, settings: object][] = [
    ['relight', { prompt: 'warm light from the left', style: 'clean' }],
    ['upscale', { creativity: 8, hdr: 3 }],
    ['upscale_precision', { smart_grain: 90 }],
    ['skin_flexible', { smart_grain: 90 }],
    ['skin_creative', {}],
    ['skin_faithful', {}],
  ]
  for (const [kind, settings] of grainy)
    test(`give equal bytes in ${kind}, from any thread`, async () => {
      const first = await renderFile(kind, sample, settings)
      const others = await Promise.all([1, 2].map(() => renderFile(kind, sample, settings)))
      for (const other of others) assert.deepEqual(other.file, first.file)
    })

  test('differ in their grain when a field or the input differs', async () => {
    const grey = await fixture.write('grey.png', await flat(100))
    const other = await fixture.write('other.png', await flat(101))
    // Flat grey has no detail to add: whatever differs is grain.
    const [first, field, input] = [
      await grain(grey, 0),
      await grain(grey, 9),
      await grain(other, 0),
    ]
    assert.notDeepEqual(field, first)
    assert.notDeepEqual(
      input.map((value) => value - 101),
      first.map((value) => value - 100),
    )
  })
})

const flat = (level: number): Promise<Buffer> =>
  draw({ width: 16, height: 16 }, () => Array(3).fill(level))

const grain = async (path: string, ultra_detail: number): Promise<number[]> => {
  const settings = { sharpen: 0, ultra_detail, smart_grain: 50 }
  return [...(await readPixels((await renderFile('upscale_precision', path, settings)).file)).data]
}

describe('limits', () => {
  test('an upscale over 25.3 million pixels is rejected before anything is rendered', async () => {
    const settings = { scale_factor: '16x' }
    const job = await jobOf('upscale', await plain(320, 310), { settings })
    await assertError(job, 'pixel_limit')
    assert.deepEqual(await readdir(job.scratchDir), [])
  })

  test('a precision side over 10,060 pixels is rejected, one below is rendered', async () => {
    const settings = { scale_factor: 16 }
    const over = await jobOf('upscale_precision', await plain(629, 2), { settings })
    await assertError(over, 'pixel_limit')
    const under = await plain(628, 2)
    const { width } = await renderFile('upscale_precision', under, settings)
    assert.equal(width, 10_048)
  })

  test('an input over maxPixels is rejected, also as a lightmap', async () => {
    const engine = makeLocalImageEngine({ maxPixels: 100 })
    const [small, large] = [await plain(10, 10), await plain(11, 10)]
    await assertError(await jobOf('relight', large), 'pixel_limit', engine)
    const lit = await jobOf('relight', small, { inputs: { lightmap: large } })
    await assertError(lit, 'pixel_limit', engine)
    const [image] = await engine.render(await jobOf('relight', small), quiet())
    assert.equal(image?.width, 10)
    await engine.close()
  })

  test('a JPEG result with a side over 65,535 pixels is rejected', async () => {
    const white = { width: 65_536, height: 1, channels: 3 as const, background: '#fff' }
    const tiff = sharp({ create: white }).tiff({ compression: 'lzw' })
    const path = await fixture.write('ribbon.tiff', await tiff.toBuffer())
    await assertError(await jobOf('relight', path), 'pixel_limit')
  })
})

describe('bad input', () => {
  const halfOf = (whole: Buffer): Buffer => whole.subarray(0, whole.length / 2)
  const broken: Record<string, () => Buffer | Promise<Buffer>> = {
    'text.png': () => Buffer.from('not an image at all'),
    'empty.jpg': () => Buffer.alloc(0),
    'drawing.svg': () => Buffer.from('<svg width="5" height="5"/>'),
    'cut.png': async () => halfOf(await readFile(sample)),
    'cut.jpg': async () => halfOf(await sharp(sample).jpeg().toBuffer()),
  }
  for (const [name, bytes] of Object.entries(broken))
    test(`${name} is image_invalid`, async () => {
      const path = await fixture.write(name, await bytes())
      await assertError(await jobOf('relight', path), 'image_invalid')
    })

  test('a broken lightmap is image_invalid', async () => {
    const bytes = Buffer.from('\x89PNG\r\n\x1a\n nothing', 'latin1')
    const lightmap = await fixture.write('map.png', bytes)
    await assertError(await jobOf('relight', sample, { inputs: { lightmap } }), 'image_invalid')
  })

  const mayBeRetried = (job: ImageJob) =>
    assert.rejects(
      local.render(job, quiet()),
      (error: Error) => !(error instanceof TaskError) && !error.message.includes(fixture.dir),
    )

  test('a file that is not there, or a folder, is an error that may be retried', async () => {
    for (const path of [join(fixture.dir, 'nothing.png'), fixture.dir])
      await mayBeRetried(await jobOf('relight', path))
  })

  test('a scratch folder that is not there is, for a large result, an error that may be retried', async () => {
    const path = await plain(1025, 1024)
    await mayBeRetried(await jobOf('relight', path, { scratchDir: join(fixture.dir, 'none') }))
  })
})

describe('a running job', () => {
  test('reports progress in whole numbers that rise to 100', async () => {
    const reported: number[] = []
    const onProgress = (percent: number) => reported.push(percent)
    await local.render(await jobOf('skin_flexible', sample), { ...quiet(), onProgress })
    assert.ok(reported.length >= 4, reported.join())
    assert.equal(reported.at(-1), 100)
    for (const [i, percent] of reported.entries())
      assert.ok(Number.isInteger(percent) && percent > (reported[i - 1] ?? 0), reported.join())
  })

  test('stops when aborted, and the engine goes on', async () => {
    const engine = makeLocalImageEngine({ maxPixels: 100_000_000 })
    const flat = { width: 2500, height: 2500, channels: 3 as const, background: '#a08070' }
    const path = await fixture.write('large.png', await sharp({ create: flat }).png().toBuffer())
    const abort = new AbortController()
    const reason = new Error('enough')
    const job = await jobOf('skin_flexible', path)
    const onProgress = () => abort.abort(reason)
    await assert.rejects(engine.render(job, { signal: abort.signal, onProgress }), reason)
    const [image] = await engine.render(await jobOf('relight', sample), quiet())
    assert.equal(image?.extension, 'png')
    // Closing waits for the thread's end: had it gone on, there would be a result.
    await engine.close()
    assert.deepEqual(await readdir(job.scratchDir), [])
  })

  test('does not start under an aborted signal', async () => {
    const job = await jobOf('relight', sample)
    const signal = AbortSignal.abort(new Error('too late'))
    await assert.rejects(local.render(job, { ...quiet(), signal }), /too late/)
    assert.deepEqual(await readdir(job.scratchDir), [])
  })

  test('fails when the engine is closed under it', async () => {
    const engine = makeLocalImageEngine({ maxPixels: 100_000_000 })
    const job = await jobOf('skin_flexible', sample)
    const rendering = engine.render(job, quiet())
    await engine.close()
    await assert.rejects(rendering, /the local image engine failed/)
  })
})
