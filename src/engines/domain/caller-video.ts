/** Sentence of a media worker whose ffmpeg is a packaged one, which reads no videos of callers. */
export const NO_CALLER_VIDEO =
  'it reads no videos of callers, and tasks that extend one fail with ModelUnavailable: install ffmpeg 4.1 or later with libx264, or set FFMPEG_PATH'
