import { useQuery } from '@tanstack/react-query'

import { Badge } from '../ui/badge.tsx'
import { Link } from '../ui/link.tsx'
import type { Tone } from '../words/states.ts'
import { counted } from '../words/text.ts'
import type { Comparison } from './changes.ts'
import { compareQuery } from './queries.ts'
import type { Range } from './queries.ts'

export const LEVELS = ['breaks', 'may_break', 'safe'] as const
export type Level = (typeof LEVELS)[number]

export const LEVEL_WORDS: Record<Level, { word: string; tone: Tone }> = {
  breaks: { word: 'breaks', tone: 'bad' },
  may_break: { word: 'may break', tone: 'warn' },
  safe: { word: 'safe', tone: 'ok' },
}

/** What an update does to saved workflows, in words. */
const describe = ({ verdict, counts }: Comparison): string => {
  if (verdict === 'breaks') return `${counted(counts.breaks, 'change')} that break saved workflows`
  if (verdict === 'may_break' && counts.may_break > 0)
    return `${counted(counts.may_break, 'change')} that may break saved workflows`
  if (verdict === 'may_break') return 'may break: not all was read'
  if (verdict === 'none') return 'cannot be compared'
  return counts.safe === 0 ? 'same host nodes' : 'safe for saved workflows'
}

/** The verdict of a comparison, which leads to it. */
export const Verdict = ({ nodeId, range }: { nodeId: string; range: Range }) => {
  const { data } = useQuery(compareQuery(nodeId, range))
  if (!data) return null
  const tone = data.verdict === 'none' ? 'soft' : LEVEL_WORDS[data.verdict].tone
  return (
    <Link
      to="/registry/$node/compare/$range"
      params={{ node: nodeId, range: `${range.from}...${range.to}` }}
      title={`Compare ${range.from} with ${range.to}`}
    >
      <Badge tone={tone}>{describe(data)}</Badge>
    </Link>
  )
}
