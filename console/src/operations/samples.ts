export interface Sample {
  at: number
  value: number
}

/** An hour of five seconds each. */
const MOST = 720

/** Appends what was read later than the last. */
export const addSample = (samples: readonly Sample[], sample: Sample): readonly Sample[] =>
  sample.at > (samples.at(-1)?.at ?? 0) ? [...samples, sample].slice(-MOST) : samples

/** The points of a line through samples: time from left to right, zero at the bottom, one sample as a flat line. */
export const linePoints = (
  samples: readonly Sample[],
  { width, height }: { width: number; height: number },
): string => {
  const [first] = samples
  if (!first) return ''
  const span = (samples.at(-1)?.at ?? first.at) - first.at
  const most = Math.max(1, ...samples.map(({ value }) => value))
  const y = (value: number): number => Math.round((height - 2) * (1 - value / most)) + 1
  const points = samples.map(({ at, value }) => [
    span === 0 ? 0 : Math.round((width * (at - first.at)) / span),
    y(value),
  ])
  return [...points, [width, y(samples.at(-1)?.value ?? 0)]]
    .map((point) => point.join(','))
    .join(' ')
}
