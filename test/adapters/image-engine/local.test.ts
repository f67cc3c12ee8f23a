import assert from 'node:assert/strict'
import { mkdir, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import type { ImageJob } from '../../../src/adapters/image-engine/image-engine.ts'
import { makeLocalImageEngine } from '../../../src/adapters/image-engine/local.ts'
import type { ImageTaskKind } from '../../../src/domain/image-task/image-kind.ts'
import { TaskError } from '../../../src/domain/task/task-error.ts'
import type { TaskErrorCode } from '../../../src/domain/task/task-error.ts'
import { draw, makeJob, useFixture, quiet } from './fixture.ts'

let sample: string
const fixture = useFixture(96, ({ samples }) => {
  sample = samples.portrait.path
})

const folder = async (name: string): Promise<string> => {
  const path = join(fixture.dir, name)
  await mkdir(path)
  return path
}

const assertError = (job: ImageJob, code: TaskErrorCode, engine = fixture.engine) =>
  assert.rejects(engine.render(job, quiet()), (error: unknown) => {
    assert.ok(error instanceof TaskError, String(error))
    assert.equal(error.code, code)
    assert.ok(!error.message.includes(fixture.dir), error.message)
    return true
  })

describe('equal requests', () => {
  const grainy: { kind: ImageTaskKind; settings: object }[] = [
    { kind: 'relight', settings: { prompt: 'warm light from the left', style: 'clean' } },
    { kind: 'upscale', settings: { creativity: 8, hdr: 3 } },
    { kind: 'upscale_precision', settings: { smart_grain: 90 } },
    { kind: 'skin_flexible', settings: { smart_grain: 90 } },
    { kind: 'skin_creative', settings: {} },
    { kind: 'skin_faithful', settings: {} },
  ]
  for (const { kind, settings } of grainy)
    test(`give equal bytes in ${kind}, from any thread`, async () => {
      const first = await fixture.renderFile(kind, sample, settings)
      const others = await Promise.all([1, 2].map(() => fixture.renderFile(kind, sample, settings)))
      for (const other of others)
        assert.deepEqual(await readFile(other.path), await readFile(first.path))
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
  return [...(await fixture.render('upscale_precision', path, settings)).data]
}

const ribbon = (width: number): Promise<Buffer> => draw({ width, height: 2 }, () => [9, 9, 9])

describe('limits', () => {
  test('an upscale over 25.3 million pixels is rejected before anything is rendered', async () => {
    const path = await fixture.write(
      'wide.png',
      await draw({ width: 320, height: 310 }, () => [9, 9, 9]),
    )
    const scratchDir = await folder('limit')
    const job = makeJob('upscale', path, { settings: { scale_factor: '16x' }, scratchDir })
    await assertError(job, 'pixel_limit')
    assert.deepEqual(await readdir(scratchDir), [])
  })

  test('a precision side over 10,060 pixels is rejected, one below is rendered', async () => {
    const settings = { scale_factor: 16 }
    const over = await fixture.write('over.png', await ribbon(629))
    const under = await fixture.write('under.png', await ribbon(628))
    const scratchDir = await folder('side')
    await assertError(makeJob('upscale_precision', over, { settings, scratchDir }), 'pixel_limit')
    const { width } = await fixture.renderFile('upscale_precision', under, settings)
    assert.equal(width, 10_048)
  })

  test('an input over maxPixels is rejected, also as a lightmap', async () => {
    const engine = makeLocalImageEngine({ maxPixels: 100 })
    const small = await fixture.write(
      'ten.png',
      await draw({ width: 10, height: 10 }, () => [9, 9, 9]),
    )
    const large = await fixture.write(
      'more.png',
      await draw({ width: 11, height: 10 }, () => [9, 9, 9]),
    )
    const scratchDir = await folder('input')
    await assertError(makeJob('relight', large, { scratchDir }), 'pixel_limit', engine)
    const lit = makeJob('relight', small, { inputs: { lightmap: large }, scratchDir })
    await assertError(lit, 'pixel_limit', engine)
    const [image] = await engine.render(makeJob('relight', small, { scratchDir }), quiet())
    assert.equal(image?.width, 10)
    await engine.close()
  })

  test('a JPEG result with a side over 65,535 pixels is rejected', async () => {
    const white = { width: 65_536, height: 1, channels: 3 as const, background: '#fff' }
    const tiff = sharp({ create: white }).tiff({ compression: 'lzw' })
    const path = await fixture.write('ribbon.tiff', await tiff.toBuffer())
    await assertError(
      makeJob('relight', path, { scratchDir: await folder('ribbon') }),
      'pixel_limit',
    )
  })
})

describe('bad input', () => {
  const broken: { name: string; bytes: () => Promise<Buffer> }[] = [
    { name: 'text.png', bytes: async () => Buffer.from('not an image at all') },
    { name: 'empty.jpg', bytes: async () => Buffer.alloc(0) },
    { name: 'drawing.svg', bytes: async () => Buffer.from('<svg width="5" height="5"/>') },
    {
      name: 'cut.png',
      bytes: async () => {
        const whole = await readFile(sample)
        return whole.subarray(0, whole.length / 2)
      },
    },
    {
      name: 'cut.jpg',
      bytes: async () => {
        const whole = await sharp(sample).jpeg().toBuffer()
        return whole.subarray(0, whole.length / 2)
      },
    },
  ]
  for (const { name, bytes } of broken)
    test(`${name} is image_invalid`, async () => {
      const path = await fixture.write(name, await bytes())
      await assertError(
        makeJob('relight', path, { scratchDir: await folder(`of-${name}`) }),
        'image_invalid',
      )
    })

  test('a broken lightmap is image_invalid', async () => {
    const lightmap = await fixture.write(
      'map.png',
      Buffer.from('\x89PNG\r\n\x1a\n nothing', 'latin1'),
    )
    const scratchDir = await folder('broken-map')
    await assertError(
      makeJob('relight', sample, { inputs: { lightmap }, scratchDir }),
      'image_invalid',
    )
  })

  test('a file that is not there, or a folder, is an error that may be retried', async () => {
    for (const path of [join(fixture.dir, 'nothing.png'), fixture.dir])
      await assert.rejects(
        fixture.engine.render(makeJob('relight', path, { scratchDir: fixture.dir }), quiet()),
        (error: Error) => !(error instanceof TaskError) && !error.message.includes(fixture.dir),
      )
  })

  test('a scratch folder that is not there is an error that may be retried', async () => {
    const scratchDir = join(fixture.dir, 'no-such-folder')
    await assert.rejects(
      fixture.engine.render(makeJob('relight', sample, { scratchDir }), quiet()),
      (error: Error) => !(error instanceof TaskError) && !error.message.includes(fixture.dir),
    )
  })
})

describe('a running job', () => {
  test('reports progress in whole numbers that rise to 100', async () => {
    const reported: number[] = []
    const job = makeJob('skin_flexible', sample, { scratchDir: await folder('progress') })
    await fixture.engine.render(job, {
      ...quiet(),
      onProgress: (percent) => reported.push(percent),
    })
    assert.ok(reported.length >= 4, reported.join())
    assert.equal(reported.at(-1), 100)
    for (const [i, percent] of reported.entries())
      assert.ok(Number.isInteger(percent) && percent > (reported[i - 1] ?? 0), reported.join())
  })

  test('stops when aborted, and the engine goes on', async () => {
    const engine = makeLocalImageEngine({ maxPixels: 100_000_000 })
    const flat = { width: 2500, height: 2500, channels: 3 as const, background: '#a08070' }
    const path = await fixture.write('large.png', await sharp({ create: flat }).png().toBuffer())
    const scratchDir = await folder('aborted')
    const abort = new AbortController()
    const reason = new Error('enough')
    const job = makeJob('skin_flexible', path, { scratchDir })
    const onProgress = () => abort.abort(reason)
    await assert.rejects(engine.render(job, { signal: abort.signal, onProgress }), reason)
    const [image] = await engine.render(
      makeJob('relight', sample, { scratchDir: await folder('on') }),
      quiet(),
    )
    assert.equal(image?.extension, 'png')
    // Closing waits for the thread's end: had it gone on, there would be a result.
    await engine.close()
    assert.deepEqual(await readdir(scratchDir), [])
  })

  test('does not start under an aborted signal', async () => {
    const job = makeJob('relight', sample, { scratchDir: await folder('never') })
    const signal = AbortSignal.abort(new Error('too late'))
    await assert.rejects(fixture.engine.render(job, { ...quiet(), signal }), /too late/)
    assert.deepEqual(await readdir(job.scratchDir), [])
  })

  test('fails when the engine is closed under it', async () => {
    const engine = makeLocalImageEngine({ maxPixels: 100_000_000 })
    const job = makeJob('skin_flexible', sample, { scratchDir: await folder('closed') })
    const rendering = engine.render(job, quiet())
    await engine.close()
    await assert.rejects(rendering, /the local image engine failed/)
  })
})
