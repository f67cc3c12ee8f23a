export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'soft'

/** What people read for each state of the API, and the icon beside it. The API's own word stands in the tooltip. */
const STATES = {
  CREATED: ['waiting', 'soft', 'Clock'],
  created: ['waiting', 'soft', 'Clock'],
  queueing: ['queued', 'soft', 'Hourglass'],
  IN_PROGRESS: ['running', 'info', 'LoaderCircle'],
  processing: ['running', 'info', 'LoaderCircle'],
  COMPLETED: ['done', 'ok', 'Check'],
  success: ['done', 'ok', 'Check'],
  FAILED: ['failed', 'bad', 'X'],
  failed: ['failed', 'bad', 'X'],
  cancelled: ['cancelled', 'soft', 'Ban'],
  delivered: ['delivered', 'ok', 'Check'],
  pending: ['waiting', 'soft', 'Clock'],
  retrying: ['trying again', 'warn', 'LoaderCircle'],
  exhausted: ['given up', 'bad', 'X'],
  superseded: ['overtaken', 'soft', 'Ban'],
  unsent: ['not sent', 'soft', 'Ban'],
  NodeVersionStatusPending: ['being checked', 'info', 'SearchCheck'],
  NodeVersionStatusActive: ['live', 'ok', 'CircleCheck'],
  NodeVersionStatusFlagged: ['held back', 'warn', 'ShieldAlert'],
  NodeVersionStatusBanned: ['banned', 'bad', 'Ban'],
  NodeVersionStatusDeleted: ['deleted', 'soft', 'Trash2'],
  NodeStatusActive: ['live', 'ok', 'CircleCheck'],
  NodeStatusBanned: ['banned', 'bad', 'Ban'],
  NodeStatusDeleted: ['deleted', 'soft', 'Trash2'],
  PublisherStatusActive: ['live', 'ok', 'CircleCheck'],
  PublisherStatusBanned: ['banned', 'bad', 'Ban'],
} as const satisfies Record<string, readonly [word: string, tone: Tone, icon: string]>

export type StateIcon = (typeof STATES)[keyof typeof STATES][2]

/** The words of a state; of one that the page does not know, the API's own. */
export const wordsOf = (state: string): { word: string; tone: Tone; icon: StateIcon } => {
  const unknown = [state.replaceAll('_', ' '), 'soft', 'Clock'] as const
  const [word, tone, icon] = STATES[state as keyof typeof STATES] ?? unknown
  return { word, tone, icon }
}
