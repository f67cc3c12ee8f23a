import { useEffect, useRef, useState } from 'react'

import { addSample, linePoints } from './samples.ts'
import type { Sample } from './samples.ts'

/** A figure since the page was opened; `at` is when it was read. */
export const Sparkline = ({ name, value, at }: { name: string; value: number; at: number }) => {
  const [samples, setSamples] = useState<readonly Sample[]>([])
  const latest = useRef(value)
  useEffect(() => {
    latest.current = value
  })
  useEffect(() => setSamples((before) => addSample(before, { at, value: latest.current })), [at])
  const values = samples.map((sample) => sample.value)
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return (
    <svg
      viewBox="0 0 240 40"
      preserveAspectRatio="none"
      width="100%"
      height={40}
      role="img"
      aria-label={`${name} since the page was opened: ${low} to ${high}`}
    >
      <polyline
        points={linePoints(samples, { width: 240, height: 40 })}
        fill="none"
        stroke="var(--accent)"
        strokeWidth={2}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  )
}
