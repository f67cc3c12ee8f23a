import { access } from 'node:fs/promises'
import { setPriority } from 'node:os'

import sharp from 'sharp'

import { TaskError } from '../../domain/task/task-error.ts'
import { probeImage } from '../image-probe.ts'
import { CANNOT_BE_SHOWN, MOST_PIXELS, TOO_MANY_PIXELS } from './limits.ts'

/**
 * The process that makes one picture small: its path, the longest side in pixels, and the milliseconds that it has. The
 * WebP goes to standard output.
 */
const [path = '', side = '', mostMs = ''] = process.argv.slice(2)

// What a stranger makes it do holds up nothing else, and ends also when the parent is gone.
setPriority(19)
setTimeout(() => process.exit(CANNOT_BE_SHOWN), Number(mostMs)).unref()
await access(path)
try {
  await probeImage(path, { maxPixels: MOST_PIXELS })
  sharp.concurrency(1)
  // sharp reads the first frame alone, and writes no metadata.
  const picture = sharp(path, { limitInputPixels: MOST_PIXELS, failOn: 'error' }).autoOrient()
  const small = picture.resize(Number(side), Number(side), {
    fit: 'inside',
    withoutEnlargement: true,
  })
  process.stdout.write(await small.toColourspace('srgb').webp().toBuffer())
} catch (error) {
  const isLarge = error instanceof TaskError && error.code === 'pixel_limit'
  process.exitCode = isLarge ? TOO_MANY_PIXELS : CANNOT_BE_SHOWN
}
