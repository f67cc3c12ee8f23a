type Sample = { at: number; value: number }

/** The points of a line through samples: time from left to right, zero at the bottom, one sample as a flat line. */
export const linePoints = (
  samples: readonly Sample[],
  { width, height }: { width: number; height: number },
): string => {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last) return ''
  const max = Math.max(1, ...samples.map(({ value }) => value))
  const span = last.at - first.at || Infinity
  const points = samples.map(({ at, value }) => [
    Math.round((width * (at - first.at)) / span),
    Math.round((height - 2) * (1 - value / max)) + 1,
  ])
  return [...points, [width, points.at(-1)?.[1]]].map((point) => point.join(',')).join(' ')
}
