import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import sharp from 'sharp'
import { runChild } from './child.ts'
import { CONFINED, QUIET, SCALER } from './options.ts'
import type { RenderPlan } from './plan.ts'
import type { ProbeOrder } from './probe.ts'

const QUALITY = 90

/** Writes the first frame of a rendered file as a JPEG. */
export const writeCover = async (
  name: string,
  target: string,
  { width, height }: Pick<RenderPlan, 'width' | 'height'>,
  { binaries, dir, signal }: ProbeOrder,
): Promise<void> => {
  await runChild({
    program: binaries.ffmpeg.path,
    args: [
      ...QUIET,
      ...CONFINED,
      ...`-f mov -i file:${name} -map 0:v:0 -frames:v 1 -pix_fmt rgb24`.split(' '),
      '-vf',
      `scale=in_color_matrix=bt709:in_range=tv:${SCALER}`,
      ...'-f rawvideo file:cover.raw'.split(' '),
    ],
    dir,
    signal,
    binaries,
  })
  const raw = { width, height, channels: 3 as const }
  await sharp(await readFile(join(dir, 'cover.raw')), { raw })
    .jpeg({ quality: QUALITY })
    .toFile(target)
}
