import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import sharp from 'sharp'

import { FPS } from './film.ts'
import type { RenderPlan } from './plan.ts'
import { probeFile, type ProbeOrder, type StreamFacts } from './probe.ts'
import { runChild } from './child.ts'
import { CONFINED, QUIET, SCALER } from './options.ts'

/** Samples of an AAC frame at 48 kHz, in seconds, and as much again for the encoder's run-in. */
const SOUND_TOLERANCE = (2 * 1024) / 48_000

/**
 * Checks a file of a plan before anyone uses it: a child that ends well may still have written a cut file (disk full,
 * size limit).
 * @throws Error that says what differs
 */
export const checkOutput = async (
  name: string,
  plan: RenderPlan,
  order: ProbeOrder,
): Promise<void> => {
  const { streams } = await probeFile({ path: join(order.dir, name), container: 'mov' }, order)
  const wanted = [listPicture(plan), ...(plan.hasAudio ? [SOUND] : [])]
  const issues = [
    ...compare('streams', streams.length, wanted.length),
    ...wanted.flatMap((values, i) => listIssues(streams[i], values)),
    ...compare('frames', streams[0]?.packets, plan.frames),
    ...(plan.hasAudio ? listLengthIssues(streams[1], plan.frames / FPS) : []),
  ]
  if (issues.length > 0) throw new Error(`the result is not what was planned: ${issues.join(', ')}`)
}

const listPicture = ({ width, height }: RenderPlan): Record<string, string> => ({
  codec_name: 'h264',
  profile: 'High',
  pix_fmt: 'yuv420p',
  width: String(width),
  height: String(height),
})

const SOUND = { codec_name: 'aac', profile: 'LC', sample_rate: '48000', channels: '2' }

const listIssues = (
  stream: StreamFacts | undefined,
  wanted: Readonly<Record<string, string>>,
): string[] =>
  Object.entries(wanted).flatMap(([name, value]) => compare(name, stream?.values.get(name), value))

const compare = (name: string, got: unknown, wanted: unknown): string[] =>
  got === wanted ? [] : [`${name} ${String(got)} instead of ${String(wanted)}`]

const listLengthIssues = (stream: StreamFacts | undefined, wanted: number): string[] => {
  const end = stream?.end ?? 0
  return Math.abs(end - wanted) <= SOUND_TOLERANCE
    ? []
    : [`sound of ${end.toFixed(3)} s instead of ${wanted.toFixed(3)} s`]
}

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
