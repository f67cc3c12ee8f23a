/** One video to make: every default applied, what has no effect left out, inputs as local files. */
export interface VideoJob {
  /** Pixels, both even. */
  width: number
  height: number
  /** Length of what is made: the whole video or, in extend, the part after the source. */
  seconds: number
  /** Decides directions, shapes and chords: 0..2147483647. */
  seed: number
  /** Empty when there is none. Without effect beside a start image or a source. */
  prompt: string
  startImage?: { path: string }
  /** End of the continuation of a source, or of what begins with a start image. */
  endImage?: { path: string }
  /** The video to continue. */
  source?: SourceFile
  movement: 'auto' | 'small' | 'medium' | 'large'
  style: 'general' | 'anime'
  audio: 'none' | 'all' | 'speech_only' | 'sound_effect_only'
  bgm: boolean
  /** Corners clockwise from the top left; without a path the built-in mark. */
  watermark?: { position: 1 | 2 | 3 | 4; path?: string }
  /** Stands in the files' `comment`, byte for byte. */
  metaData?: string
  /** An existing folder for this job alone; results are written into it. */
  scratchDir: string
  /** Milliseconds from now that the rendering may take. */
  deadlineMs: number
  /** Makes 8 frames of 96×64, whatever the job says. */
  tiny?: boolean
}

export interface SourceFile {
  path: string
  /** An engine here made the video; otherwise it came from anywhere. */
  isOwn?: boolean
  /** Shortest that another may be; 4 s unless given, as a continuation needs. */
  leastSeconds?: number
}

/** Finished files in the job's scratch folder: MP4 (H.264 High, yuv420p, AAC-LC when there is sound) and JPEG. */
export interface RenderedVideo {
  video: string
  cover: string
  /** Present when the job has a watermark. */
  watermarked?: string
  width: number
  height: number
  fps: 24
  frames: number
  hasAudio: boolean
}

/** Facts of a source video that can be continued. */
export interface ProbedSource {
  container: 'mov' | 'matroska'
  /** Number of its video stream, which need not be the first: a cover may come before it. */
  stream: number
  /** As it is shown: rotation and the shape of its pixels applied. */
  width: number
  height: number
  /** From the start of the file to the end of its last picture. */
  seconds: number
  hasAudio: boolean
}

export interface RenderControl {
  /** Once aborted, the work stops and the promise rejects with the signal's reason when no child is left. */
  signal: AbortSignal
  /** Called with whole numbers 0..100 that rise; above 0 only while or after ffmpeg runs. */
  onProgress(percent: number): void
}

export interface ProbeControl {
  signal: AbortSignal
  /** An existing folder for this job alone. */
  scratchDir: string
}
