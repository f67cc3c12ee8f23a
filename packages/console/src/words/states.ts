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

import { t } from './translate.ts'

export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'soft'

/** The API's words for a state, without `NodeStatus` and `NodeVersionStatus`, and what people read and see in their place. */
type State = readonly [states: string, word: string, tone: Tone, Icon: LucideIcon]

const STATES: readonly State[] = [
  ['CREATED created pending waiting', t('waiting'), 'soft', Clock],
  ['queueing queued', t('queued'), 'soft', Hourglass],
  ['IN_PROGRESS processing running', t('running'), 'info', LoaderCircle],
  ['COMPLETED success done', t('done'), 'ok', Check],
  ['done_with_errors', t('done with errors'), 'warn', TriangleAlert],
  ['FAILED failed', t('failed'), 'bad', X],
  ['cancelled', t('cancelled'), 'soft', Ban],
  ['delivered', t('delivered'), 'ok', Check],
  ['retrying', t('retrying'), 'warn', LoaderCircle],
  ['exhausted', t('failed'), 'bad', X],
  ['superseded', t('superseded'), 'soft', Ban],
  ['rejected', t('rejected'), 'bad', X],
  ['unsent', t('not sent'), 'soft', Ban],
  ['Pending', t('checking'), 'info', SearchCheck],
  ['PublisherStatusActive', t('active'), 'ok', CircleCheck],
  ['Active', t('published'), 'ok', CircleCheck],
  ['Flagged', t('flagged'), 'warn', ShieldAlert],
  ['Banned PublisherStatusBanned', t('banned'), 'bad', Ban],
  ['Deleted', t('deleted'), 'soft', Trash2],
  ['ready', t('ready'), 'ok', CircleCheck],
  ['busy', t('busy'), 'info', LoaderCircle],
  ['resting', t('resting'), 'warn', Hourglass],
  ['stalled', t('stalled'), 'warn', TriangleAlert],
  ['draining', t('draining'), 'soft', Hourglass],
  ['quarantined', t('needs a restart'), 'bad', ShieldAlert],
  ['gone', t('gone'), 'bad', X],
  ['degraded', t('degraded'), 'warn', TriangleAlert],
  ['unready', t('not ready'), 'bad', X],
  ['ok', t('operational'), 'ok', CircleCheck],
  ['down', t('down'), 'bad', X],
]

/** The words of a state, such as `NodeStatusActive`; of one that the page does not know, the API's own. */
export const wordsOf = (state: string) => {
  const short = state.replace(/^Node(Version)?Status/, '')
  const known = STATES.find(([states]) => states.split(' ').includes(short))
  const [, word, tone, Icon]: State = known ?? ['', state.replaceAll('_', ' '), 'soft', Clock]
  return { word, tone, Icon }
}
