import { join } from 'node:path'

import { FPS, FROZEN, type Film, type FilmOptions } from './film.ts'
import { planExtension } from './film-extension.ts'
import { planScene } from './film-scene.ts'
import { finishFilm } from './finish-film.ts'
import { makeInputFiles, type InputFiles } from './input-file.ts'
import { placeMark } from './mark.ts'
import { COUNTED, SOUND_OUTPUT, VIDEO_OUTPUT } from './options.ts'
import { hasSound, writeSound } from './sound.ts'
import type { VideoJob } from '../video-job.ts'
import { drawAnime } from './anime.ts'
import { cameraFilter, makeCamera } from './camera.ts'
import { fadeTo } from './fade.ts'
import { readStill } from './still.ts'

/** A run of ffmpeg in its folder, and what it must make. */
export interface RenderPlan {
  args: string[]
  /** File names in the folder: the clean video, and with a watermark the marked one. */
  outputs: string[]
  width: number
  height: number
  frames: number
  hasAudio: boolean
}

/** With AVX-512, the x264 of 2018 that is packaged does not repeat its bytes at 64×36. */
const TINY = { width: 96, height: 64, frames: 8 }

/** Largest file ffmpeg may write, in bytes. */
const MAX_BYTES = 512 * 2 ** 20

/**
 * Decodes, draws and writes what ffmpeg needs, and puts its arguments together. They hold numbers and file names of ours
 * only, no text of a caller.
 * @throws InputError `image_invalid`, `pixel_limit`
 */
export const planRender = async (given: VideoJob, options: FilmOptions): Promise<RenderPlan> => {
  const job = given.tiny ? { ...given, width: TINY.width, height: TINY.height } : given
  const frames = given.tiny ? TINY.frames : Math.round(job.seconds * FPS)
  const inputs = makeInputFiles(options.dir)
  const film = await planFilm(job, frames, inputs, options)
  const mark = job.watermark && (await placeMark(job.watermark, job, options.maxPixels))
  const pictures = await finishFilm(film, mark, inputs)
  const outputs = mark === undefined ? ['clean.mp4'] : ['clean.mp4', 'marked.mp4']
  const sound = await planSound(job, film, { inputs, dir: options.dir, outputs: outputs.length })
  const graph = [...pictures, ...(sound?.graph === undefined ? [] : [sound.graph])]
  const seconds = film.frames / FPS
  const args = [
    ...COUNTED,
    ...inputs.args,
    '-filter_complex',
    graph.join(';'),
    ...outputs.flatMap((name, i) => [
      ...mapTo(i, sound),
      ...VIDEO_OUTPUT,
      // Not `-frames:v`: when it is reached ffmpeg ends the file's sound too. The graphs end by themselves.
      '-t',
      seconds.toFixed(6),
      '-fs',
      String(MAX_BYTES),
      '-f',
      'mp4',
      `file:${name}`,
    ]),
  ]
  const { width, height } = job
  return { args, outputs, width, height, frames: film.frames, hasAudio: sound !== undefined }
}

const mapTo = (output: number, sound: Sound | undefined): string[] => {
  const picture = output === 0 ? '[clean]' : '[marked]'
  if (sound === undefined) return ['-map', picture, '-an']
  return ['-map', picture, '-map', sound.maps[output] ?? '', ...SOUND_OUTPUT]
}

const planFilm = (
  job: VideoJob,
  frames: number,
  inputs: InputFiles,
  options: FilmOptions,
): Promise<Film> => {
  if (job.source) return planExtension(job, frames, inputs, options)
  if (job.startImage) return planStill(job, job.startImage.path, { frames, inputs, options })
  return planScene(job, frames, inputs)
}

interface Sound {
  graph?: string
  /** Value of `-map` for each output. */
  maps: string[]
}

const planSound = async (
  job: VideoJob,
  film: Film,
  { inputs, dir, outputs }: { inputs: InputFiles; dir: string; outputs: number },
): Promise<Sound | undefined> => {
  if (film.sound !== undefined) {
    const maps = Array.from({ length: outputs }, (_, i) => `[sound${i}]`)
    return { graph: `${film.sound},asplit=${outputs}${maps.join('')}`, maps }
  }
  if (job.source || !hasSound(job)) return undefined
  await writeSound(join(dir, 'sound.wav'), job, film.frames / FPS)
  const index = inputs.addFile('sound.wav', ['-f', 'wav'])
  return { maps: Array.from({ length: outputs }, () => `${index}:a`) }
}

/**
 * A start image: its first frame is the image, then a zoom and pan whose direction the seed decides. With an end image it
 * ends on that, after a cross-fade.
 */
const planStill = async (
  job: VideoJob,
  path: string,
  {
    frames,
    inputs,
    options,
  }: { frames: number; inputs: InputFiles; options: Pick<FilmOptions, 'maxPixels'> },
): Promise<Film> => {
  const still = await readStill(path, { ...job, maxPixels: options.maxPixels })
  const picture = job.style === 'anime' ? await drawAnime(still) : still
  const chain = await inputs.addPicture(picture)
  const movement = cameraFilter(makeCamera(job), { top: 0, frame: job }, { frames })
  const continued = `${chain},${FROZEN},trim=end_frame=${frames},${movement}`
  if (job.endImage === undefined) return { graph: continued, frames }
  const fade = { continued, length: 0, added: frames, inputs, maxPixels: options.maxPixels }
  return { graph: await fadeTo(job, job.endImage.path, fade), frames }
}
