import { useQuery } from '@tanstack/react-query'

import { Badge } from '../ui/values.tsx'
import { Link } from '../ui/link.tsx'
import { Row } from '../ui/page.tsx'
import type { Tone } from '../words/states.ts'
import { counted } from '../words/text.ts'
import type { Comparison } from './changes.ts'
import { compareQuery } from './queries.ts'
import type { Version } from './queries.ts'

export const LEVELS = ['breaks', 'may_break', 'safe'] as const

export const LEVEL_WORDS: Record<(typeof LEVELS)[number], { word: string; tone: Tone }> = {
  breaks: { word: 'breaks', tone: 'bad' },
  may_break: { word: 'may break', tone: 'warn' },
  safe: { word: 'safe', tone: 'ok' },
}

/** What an update does to saved workflows, in words. */
const describe = ({ verdict, counts }: Comparison): string => {
  if (verdict === 'breaks')
    return `${counted(counts.breaks, 'change that breaks', 'changes that break')} saved workflows`
  if (verdict === 'may_break' && counts.may_break > 0)
    return `${counted(counts.may_break, 'change')} that may break saved workflows`
  if (verdict === 'may_break') return 'may break: not all was read'
  if (verdict === 'none') return 'cannot be compared'
  return counts.safe === 0 ? 'same host nodes' : 'safe for saved workflows'
}

const isRead = (version: Version): boolean => version.host_node_extract_status === 'success'

/** What an update from the version before does, which leads to their comparison. */
export const Verdict = ({ version, before }: { version: Version; before: Version | undefined }) => {
  const { node_id: node, version: to } = version
  const range = { from: before?.version ?? '', to }
  const isKnown = before !== undefined && isRead(before) && isRead(version)
  const { data } = useQuery({ ...compareQuery(node, range), enabled: isKnown })
  if (!data) return null
  return (
    <Row>
      <span>From {range.from}:</span>
      <Link
        to="/registry/$node/compare/$range"
        params={{ node, range: `${range.from}...${to}` }}
        title={`Compare ${range.from} with ${to}`}
      >
        <Badge tone={data.verdict === 'none' ? 'soft' : LEVEL_WORDS[data.verdict].tone}>
          {describe(data)}
        </Badge>
      </Link>
    </Row>
  )
}
