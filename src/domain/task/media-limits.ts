/** What a task may take in. */
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
  /** For the whole download, redirects included. */
  timeoutMs: number
  maxRedirects: number
}
