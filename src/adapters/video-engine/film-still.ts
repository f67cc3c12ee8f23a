import { drawAnime } from './anime.ts'
import { cameraFilter } from './camera.ts'
import { fadeTo } from './fade.ts'
import type { InputFiles } from './input-file.ts'
import { HELD, type Film, type FilmOptions } from './film.ts'
import { makeCamera } from './still-camera.ts'
import { readStill } from './still.ts'
import type { VideoJob } from './video-engine.ts'

/**
 * A start image: its first frame is the image, then a zoom and pan whose direction the seed decides. With an end image it
 * ends on that, after a cross-fade.
 */
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
  const continued = `${chain},${HELD},trim=end_frame=${frames},${movement}`
  if (job.endImage === undefined) return { graph: continued, frames }
  const fade = { continued, length: 0, added: frames, inputs, maxPixels: options.maxPixels }
  return { graph: await fadeTo(job, job.endImage.path, fade), frames }
}
