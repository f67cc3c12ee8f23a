import { useState } from 'react'

import { addSample, linePoints } from './samples.ts'
import type { Sample } from './samples.ts'

/** A figure since the page was opened; `at` is when it was read. */
export const Sparkline = ({ name, value, at }: Sample & { name: string }) => {
  const [before, setSamples] = useState<readonly Sample[]>([])
  const samples = addSample(before, { at, value })
  if (samples !== before) setSamples(samples)
  const values = samples.map((sample) => sample.value)
  const size = { width: 240, height: 40 }
  return (
    <svg
      viewBox={`0 0 ${size.width} ${size.height}`}
      preserveAspectRatio="none"
      width="100%"
      height={size.height}
      role="img"
      aria-label={`${name} since the page was opened: ${Math.min(...values)} to ${Math.max(...values)}`}
    >
      <polyline
        points={linePoints(samples, size)}
        fill="none"
        stroke="var(--accent)"
        strokeWidth={2}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  )
}
