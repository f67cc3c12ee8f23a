import { useQuery } from '@tanstack/react-query'

import { readQuery } from '../api/client.ts'
import { t } from '../words/translate.ts'
import { linePoints } from './line-points.ts'

const SIZE = { width: 160, height: 32 }
const DAY_MS = 86_400_000

/** Line of a pack's installs in the last 90 days. Nothing while there are none. */
export const Downloads = ({ node }: { node: string }) => {
  const { data } = useQuery(readQuery('/nodes/{nodeId}/downloads', { path: { nodeId: node } }))
  if (!data || data.downloads === 0) return null
  const byDay = new Map(data.days.map(({ day, downloads }) => [day, downloads]))
  const [from, to] = [Date.parse(data.from), Date.parse(data.to)]
  const samples = Array.from({ length: (to - from) / DAY_MS + 1 }, (_, index) => {
    const at = from + index * DAY_MS
    return { at, value: byDay.get(new Date(at).toISOString().slice(0, 10)) ?? 0 }
  })
  const words = t('{count, plural, one {# install} other {# installs}} in {days} days', {
    count: data.downloads,
    days: samples.length,
  })
  return (
    <div>
      <svg
        viewBox={`0 0 ${SIZE.width} ${SIZE.height}`}
        width={SIZE.width}
        height={SIZE.height}
        role="img"
        aria-label={words}
      >
        <polyline
          points={linePoints(samples, SIZE)}
          fill="none"
          stroke="var(--accent)"
          strokeWidth={2}
        />
      </svg>
      <p className="soft">{words}</p>
    </div>
  )
}
