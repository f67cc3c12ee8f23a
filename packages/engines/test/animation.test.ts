import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import sharp from 'sharp'

import { animate } from '../../../test/support/comfyui/render.ts'
import { useFolder } from '../../../test/support/folder.ts'
import { copyAnimation, readAnimation } from '../src/animation.ts'
import { probeImage } from '../src/image-probe.ts'

const FORMATS = ['gif', 'png', 'webp'] as const
const SIZE = { width: 32, height: 24 }

describe('an animation', () => {
  const folder = useFolder()

  const make = async (extension: (typeof FORMATS)[number], colours: readonly string[]) => {
    const pngs = await Promise.all(
      colours.map((background) =>
        sharp({ create: { ...SIZE, channels: 3, background } })
          .png()
          .toBuffer(),
      ),
    )
    const path = join(folder, `${colours.length}.${extension}`)
    const bytes = await animate(pngs, { extension, ms: 80, text: 'a secret graph' })
    await writeFile(path, bytes)
    const probed = await probeImage(path, { maxPixels: 1e6 })
    return { path, bytes, moving: await readAnimation(path, probed) }
  }

  for (const format of FORMATS)
    test(`of ${format} keeps its frames, and nothing that stands beside them`, async () => {
      const { path, bytes, moving } = await make(format, ['red', 'lime', 'blue'])
      assert.equal(moving, format)
      assert.ok(format === 'gif' || bytes.includes('a secret graph'))
      const to = `${path}.copy`
      await copyAnimation(path, to, format)
      const copied = await readFile(to)
      assert.ok(!copied.includes('secret'))
      assert.equal(await readAnimation(to, await probeImage(to, { maxPixels: 1e6 })), format)
      const chunks = copied.toString('latin1').match(/fcTL|ANMF/g)?.length
      const { pages = chunks, delay } = await sharp(to, { animated: true }).metadata()
      assert.equal(pages, 3)
      if (format !== 'png') assert.deepEqual(delay, [80, 80, 80])
      const [first = 0] = await sharp(to).raw().toBuffer()
      assert.ok(first > 250)
    })

  test('is none with a single frame', async () => {
    for (const format of FORMATS) assert.equal((await make(format, ['red'])).moving, undefined)
  })

  test('is rejected where it is cut', async () => {
    for (const format of FORMATS) {
      const { path, bytes } = await make(format, ['red', 'lime'])
      await writeFile(path, bytes.subarray(0, bytes.length / 2))
      await assert.rejects(copyAnimation(path, `${path}.copy`, format))
    }
  })
})
