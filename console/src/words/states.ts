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
  X,
  type LucideIcon,
} from 'lucide-react'

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'soft'

/** What people read for each state of the API, and the icon beside it. The API's own word stands in the tooltip. */
const STATES: Readonly<Record<string, readonly [word: string, tone: Tone, icon: LucideIcon]>> = {
  CREATED: ['waiting', 'soft', Clock],
  created: ['waiting', 'soft', Clock],
  queueing: ['queued', 'soft', Hourglass],
  IN_PROGRESS: ['running', 'info', LoaderCircle],
  processing: ['running', 'info', LoaderCircle],
  COMPLETED: ['done', 'ok', Check],
  success: ['done', 'ok', Check],
  FAILED: ['failed', 'bad', X],
  failed: ['failed', 'bad', X],
  cancelled: ['cancelled', 'soft', Ban],
  delivered: ['delivered', 'ok', Check],
  pending: ['waiting', 'soft', Clock],
  retrying: ['trying again', 'warn', LoaderCircle],
  exhausted: ['given up', 'bad', X],
  NodeVersionStatusPending: ['being checked', 'info', SearchCheck],
  NodeVersionStatusActive: ['live', 'ok', CircleCheck],
  NodeVersionStatusFlagged: ['held back', 'warn', ShieldAlert],
  NodeVersionStatusBanned: ['banned', 'bad', Ban],
  NodeVersionStatusDeleted: ['deleted', 'soft', Trash2],
  NodeStatusActive: ['live', 'ok', CircleCheck],
  NodeStatusBanned: ['banned', 'bad', Ban],
  NodeStatusDeleted: ['deleted', 'soft', Trash2],
  PublisherStatusActive: ['live', 'ok', CircleCheck],
  PublisherStatusBanned: ['banned', 'bad', Ban],
}

/** The words of a state; of one that the page does not know, the API's own. */
export const wordsOf = (state: string): { word: string; tone: Tone; Icon: LucideIcon } => {
  const [word, tone, Icon] = STATES[state] ?? [state.replaceAll('_', ' '), 'soft', Clock]
  return { word, tone, Icon }
}
