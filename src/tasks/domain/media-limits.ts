import type { DownloadLimits } from '../../platform/domain/download-limits.ts'

/** Limits of what a task takes in. */
export interface MediaLimits {
  /** Width × height of a picture. */
  maxPixels: number
  image: DownloadLimits
  watermark: DownloadLimits
  /** The source of an extension. */
  video: DownloadLimits
}
