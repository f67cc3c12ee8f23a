import type { PlacedPicture } from './picture.ts'
import type { ProbedSource } from '../video-job.ts'

export const FPS = 24

/** The pictures of a run of ffmpeg. */
export interface Film {
  /** A filter graph whose last output has no label yet. */
  graph: string
  frames: number
  /** Lies still over the pictures. */
  caption?: PlacedPicture
  /** A chain that ends in sound of the film's length, when a source has some. */
  sound?: string
}

/** Options of films of all kinds. */
export interface FilmOptions {
  /** Folder of the run; its inputs are written there. */
  dir: string
  maxPixels: number
  /** Facts of the job's source. */
  source?: ProbedSource
}

/** Holds a picture for as long as it is asked for. */
export const FROZEN = `loop=loop=-1:size=1:start=0,settb=1/${FPS},setpts=N`
