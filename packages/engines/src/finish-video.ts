import { join } from 'node:path'

import type { ChildOrder } from './video/child.ts'
import { runChild } from './video/child.ts'
import { readAsVideo } from './animation.ts'
import type { VideoEngineOptions } from './video-engine.ts'
import { inFolder, moveOut } from './video-engine.ts'
import { CALLERS, CONFINED, QUIET, SOUND_OUTPUT, VIDEO_OUTPUT } from './video/options.ts'
import { overlay } from './video/finish-film.ts'
import { makeInputFiles } from './video/input-file.ts'
import { placeMark } from './video/mark.ts'
import { writeCover } from './video/output-file.ts'
import type { PlacedPicture } from './video/picture.ts'
import { probeFile } from './video/probe.ts'
import type { ProbeControl, RenderedVideo, VideoJob } from './video-job.ts'

/** A finished video that another program has made. */
export type FinishedVideo = Pick<
  RenderedVideo,
  'video' | 'cover' | 'watermarked' | 'width' | 'height'
> & {
  seconds: number
  fps: number
}

/**
 * Makes a result of a video that another program has made: MP4 with H.264, without what stands in the file beside picture
 * and sound, a cover, and a second copy where a watermark is wanted. What is H.264 already is copied.
 * @throws InputError of the watermark, Error when it is no whole video
 */
export type FinishVideo = (
  path: string,
  control: ProbeControl & Pick<VideoJob, 'watermark'> & { metaData?: string | undefined },
) => Promise<FinishedVideo>

const CLEAN = 'clean.mp4'
const MARKED = 'marked.mp4'
const PLAIN = '-map_metadata -1 -map_chapters -1 -fflags +bitexact -movflags +faststart -f mp4'

export const makeFinishVideo =
  ({ binaries, maxPixels }: VideoEngineOptions): FinishVideo =>
  (path, { scratchDir, signal, metaData, watermark }) =>
    inFolder(scratchDir, binaries.user, async (dir) => {
      const order = { binaries, dir, signal }
      await convert(path, order)
      const facts = await probe(join(dir, CLEAN), 'mov', order)
      const [video, cover] = [join(scratchDir, 'video.mp4'), join(scratchDir, 'cover.jpg')]
      const marked = watermark && join(scratchDir, 'watermarked.mp4')
      if (watermark) await layMark(await placeMark(watermark, facts, maxPixels), facts.fps, order)
      await writeCover(CLEAN, cover, facts, order)
      await moveOut(join(dir, CLEAN), video, metaData)
      if (marked) await moveOut(join(dir, MARKED), marked, metaData)
      return { video, cover, ...(marked && { watermarked: marked }), ...facts }
    })

type Order = Pick<ChildOrder, 'dir' | 'signal'> & Pick<VideoEngineOptions, 'binaries'>

const findPicture = async (path: string, container: string, order: Order) => {
  const { streams, start } = await probeFile({ path, container }, order)
  const picture = streams.find(({ values }) => values.get('codec_type') === 'video')
  if (!picture || picture.packets === 0) throw new Error('the video has no pictures')
  return { ...picture, seconds: picture.end - start }
}

const probe = async (path: string, container: string, order: Order) => {
  const { values, packets, seconds } = await findPicture(path, container, order)
  const fps = Math.max(1, Math.round(packets / seconds))
  return { width: Number(values.get('width')), height: Number(values.get('height')), seconds, fps }
}

/** Makes the second copy, at the rate and with the sound of the first. */
const layMark = async (mark: PlacedPicture, fps: number, order: Order): Promise<void> => {
  const inputs = makeInputFiles(order.dir)
  const film = inputs.addFile(CLEAN, ['-f', 'mov'])
  const chain = await inputs.addPicture(mark.picture)
  const graph = `${chain}[mark];${overlay(`${film}:v`, 'mark', mark, 'marked')}`
  const maps = ['-map', '[marked]', '-map', `${film}:a?`, '-c:a', 'copy']
  await runChild({
    ...order,
    program: order.binaries.ffmpeg.path,
    args: [
      ...QUIET,
      ...inputs.args,
      '-filter_complex',
      graph,
      ...maps,
      ...VIDEO_OUTPUT,
      '-r',
      String(fps),
      '-f',
      'mp4',
      `file:${MARKED}`,
    ],
  })
}

const convert = async (path: string, order: Order): Promise<void> => {
  const { container, options } = await readAsVideo(path, order.dir)
  const picture = container && (await findPicture(path, container, order))
  const isReady =
    picture &&
    picture.values.get('codec_name') === 'h264' &&
    picture.values.get('pix_fmt') === 'yuv420p'
  const output = isReady
    ? ['-c:v', 'copy']
    : ['-vf', 'crop=trunc(iw/2)*2:trunc(ih/2)*2', ...VIDEO_OUTPUT]
  await runChild({
    ...order,
    program: order.binaries.ffmpeg.path,
    args: [
      ...QUIET,
      ...CONFINED,
      ...CALLERS,
      ...options,
      ...'-map 0:v:0 -map 0:a:0?'.split(' '),
      ...output,
      ...SOUND_OUTPUT,
      ...PLAIN.split(' '),
      `file:${CLEAN}`,
    ],
  })
}
