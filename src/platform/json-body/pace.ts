/** The least speed of a body or of a response: so many bytes a second on average over any window. */
export interface Pace {
  bytesPerSecond: number
  windowMs: number
}

/** 16 KiB/s over any 10 s: a phone in a tunnel is faster, a thousand sockets that drip are not. */
export const USUAL_PACE: Pace = { bytesPerSecond: 16 * 1024, windowMs: 10_000 }

const SAMPLES_PER_WINDOW = 10

/**
 * Looks ten times in each window at how much the client has sent or taken. Time in which nothing waits for it, because
 * this side is busy (disk, other requests), does not count against it: the window begins again.
 *
 * @returns a function that stops looking.
 */
export const watchPace = (
  pace: Pace,
  client: { bytes: () => number; waiting: () => boolean; tooSlow: () => void },
): (() => void) => {
  const least = (pace.bytesPerSecond * pace.windowMs) / 1000
  let samples = [0]
  // oxlint-disable-next-line no-restricted-globals -- samples are even in time, whatever they find
  const timer = setInterval(() => {
    if (!client.waiting()) {
      samples = []
      return
    }
    const now = client.bytes()
    samples.push(now)
    if (samples.length <= SAMPLES_PER_WINDOW) return
    const before = samples.shift() ?? 0
    if (now - before < least) client.tooSlow()
  }, pace.windowMs / SAMPLES_PER_WINDOW)
  return () => clearInterval(timer)
}
