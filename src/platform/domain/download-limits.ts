export interface DownloadLimits {
  maxBytes: number
  /** For everything together: look-ups, connections, redirects, body. */
  timeoutMs: number
  maxRedirects: number
}
