export const VIDEO_PREFIX = '/proxy/vidvendor'

/** True when a path lies below it, route or not: errors there have the form that clients of video routes read. */
export const isVideoPath = (path: string): boolean =>
  path === VIDEO_PREFIX || path.startsWith(`${VIDEO_PREFIX}/`)
