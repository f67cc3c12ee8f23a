import type { Output, RenderedImage } from '../../../packages/engines/src/image-job.ts'
import type {
  ImageField,
  ImageSettings,
  ImageTaskKind,
} from '../../tasks/domain/image/image-kind.ts'

/** One image task as an engine sees it: settings with every default applied, inputs as local files. */
export interface ImageJob {
  taskId: string
  kind: ImageTaskKind
  settings: ImageSettings
  /** Encoding of the results. */
  output?: Output | undefined
  /** `image` is always there; files may hold anything, the engine validates them. */
  inputs: Partial<Record<ImageField, { path: string }>>
  /** An existing folder that belongs to this attempt; results are written into it. */
  scratchDir: string
}

export interface RenderControl {
  /** Once aborted, `render` rejects at once with the signal's reason. */
  signal: AbortSignal
  /** Called with whole numbers 0..100 that never fall. */
  onProgress(percent: number): void
}

/** Renders image tasks: local processing, or an upstream that speaks our own interface. */
export interface ImageEngine {
  name: string
  /**
   * Renders a job into its scratch folder. Rejects with a `TaskError` when no retry can help (`image_invalid`,
   * `pixel_limit`), with a plain error otherwise. Messages hold no paths.
   */
  render(job: ImageJob, control: RenderControl): Promise<RenderedImage[]>
  /** Stops what still runs and frees what the engine holds. */
  close(): Promise<void>
}
