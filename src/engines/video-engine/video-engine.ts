import type {
  ProbeControl,
  ProbedSource,
  RenderControl,
  RenderedVideo,
  SourceFile,
  VideoJob as RenderJob,
} from '../../../packages/engines/src/video-job.ts'

/** One video task as an engine sees it. */
export interface VideoJob extends RenderJob {
  taskId: string
}

/** Renders video tasks: local processing, or an upstream that speaks our own interface. */
export interface VideoEngine {
  name: string
  /**
   * Renders a job into its scratch folder. Rejects with a `VideoError` when no retry can help (`ImageFormatInvalid`,
   * `ImageSizeInvalid`, `VideoFormatInvalid`, `ModelUnavailable`), with a plain error otherwise. Messages hold no paths.
   */
  render(job: VideoJob, control: RenderControl): Promise<RenderedVideo>
  /**
   * Reads the facts of a caller's video, so that the size of the result can be chosen.
   * @throws VideoError `VideoFormatInvalid` outside the limits of a source, `ModelUnavailable` when no ffmpeg here may
   * read it
   */
  probeSource(source: SourceFile, control: ProbeControl): Promise<ProbedSource>
}
