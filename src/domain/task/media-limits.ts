/** Limits of what a task takes in. */
export interface MediaLimits {
  /** Width × height of a picture. */
  maxPixels: number
  image: DownloadLimits
  watermark: DownloadLimits
  /** The source of an extension. */
  video: DownloadLimits
}

export interface DownloadLimits {
  maxBytes: number
  /** For everything together: look-ups, connections, redirects, body. */
  timeoutMs: number
  maxRedirects: number
}
