import {
  Ban,
  Check,
  CircleCheck,
  Clock,
  Hourglass,
  LoaderCircle,
  SearchCheck,
  ShieldAlert,
  Trash2,
  TriangleAlert,
  X,
  type LucideIcon,
} from 'lucide-react'

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'soft'

/** The API's words for a state, without `NodeStatus` and `NodeVersionStatus`, and what people read and see in their place. */
type State = readonly [states: string, word: string, tone: Tone, Icon: LucideIcon]

const STATES: readonly State[] = [
  ['CREATED created pending waiting', 'waiting', 'soft', Clock],
  ['queueing queued', 'queued', 'soft', Hourglass],
  ['IN_PROGRESS processing running', 'running', 'info', LoaderCircle],
  ['COMPLETED success done', 'done', 'ok', Check],
  ['FAILED failed', 'failed', 'bad', X],
  ['cancelled', 'cancelled', 'soft', Ban],
  ['delivered', 'delivered', 'ok', Check],
  ['retrying', 'retrying', 'warn', LoaderCircle],
  ['exhausted', 'failed', 'bad', X],
  ['superseded', 'superseded', 'soft', Ban],
  ['rejected', 'rejected', 'bad', X],
  ['unsent', 'not sent', 'soft', Ban],
  ['Pending', 'checking', 'info', SearchCheck],
  ['PublisherStatusActive', 'active', 'ok', CircleCheck],
  ['Active', 'published', 'ok', CircleCheck],
  ['Flagged', 'flagged', 'warn', ShieldAlert],
  ['Banned PublisherStatusBanned', 'banned', 'bad', Ban],
  ['Deleted', 'deleted', 'soft', Trash2],
  ['ready', 'ready', 'ok', CircleCheck],
  ['busy', 'busy', 'info', LoaderCircle],
  ['resting', 'resting', 'warn', Hourglass],
  ['stalled', 'stalled', 'warn', TriangleAlert],
  ['draining', 'draining', 'soft', Hourglass],
  ['quarantined', 'needs a restart', 'bad', ShieldAlert],
  ['gone', 'gone', 'bad', X],
  ['degraded', 'degraded', 'warn', TriangleAlert],
  ['unready', 'not ready', 'bad', X],
  ['ok', 'operational', 'ok', CircleCheck],
  ['down', 'down', 'bad', X],
]

/** The words of a state, such as `NodeStatusActive`; of one that the page does not know, the API's own. */
export const wordsOf = (state: string) => {
  const short = state.replace(/^Node(Version)?Status/, '')
  const known = STATES.find(([states]) => states.split(' ').includes(short))
  const [, word, tone, Icon]: State = known ?? ['', state.replaceAll('_', ' '), 'soft', Clock]
  return { word, tone, Icon }
}
