import { drawAnime } from './anime.ts'
import { cameraFilter, ENLARGEMENT } from './camera.ts'
import type { Camera } from './camera.ts'
import type { InputFiles } from './input-file.ts'
import { HELD } from './film.ts'
import type { Film, FilmOptions } from './film.ts'
import { makeRandom } from './random.ts'
import { readStill } from './still.ts'
import type { VideoJob } from './video-engine.ts'

/** A start image: its first frame is the image, then a zoom and pan whose direction the seed decides. */
export const planStill = async (
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
  return { graph: `${chain},${HELD},trim=end_frame=${frames},${movement}`, frames }
}

/** Ken Burns: towards a point away from the middle, so that the picture both grows and slides. */
export const makeCamera = ({ seed, movement }: Pick<VideoJob, 'seed' | 'movement'>): Camera => {
  const angle = 2 * Math.PI * makeRandom(seed, 'camera')()
  const towards = { x: 0.8 * Math.cos(angle), y: 0.8 * Math.sin(angle) }
  return { base: 1, zoom: ENLARGEMENT[movement], towards }
}
