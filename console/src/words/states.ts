export type Tone = 'ok' | 'warn' | 'bad' | 'info' | 'soft'
export type StateIcon =
  | 'waiting'
  | 'queued'
  | 'running'
  | 'done'
  | 'failed'
  | 'cancelled'
  | 'checking'
  | 'live'
  | 'held'
  | 'removed'

export interface StateWords {
  word: string
  tone: Tone
  icon: StateIcon
}

/** What people read for each state of the API. The API's own word stands in the tooltip. */
const STATES: Record<string, StateWords> = {
  CREATED: { word: 'waiting', tone: 'soft', icon: 'waiting' },
  created: { word: 'waiting', tone: 'soft', icon: 'waiting' },
  queueing: { word: 'queued', tone: 'soft', icon: 'queued' },
  IN_PROGRESS: { word: 'running', tone: 'info', icon: 'running' },
  processing: { word: 'running', tone: 'info', icon: 'running' },
  COMPLETED: { word: 'done', tone: 'ok', icon: 'done' },
  success: { word: 'done', tone: 'ok', icon: 'done' },
  FAILED: { word: 'failed', tone: 'bad', icon: 'failed' },
  failed: { word: 'failed', tone: 'bad', icon: 'failed' },
  cancelled: { word: 'cancelled', tone: 'soft', icon: 'cancelled' },
  delivered: { word: 'delivered', tone: 'ok', icon: 'done' },
  pending: { word: 'waiting', tone: 'soft', icon: 'waiting' },
  retrying: { word: 'trying again', tone: 'warn', icon: 'running' },
  exhausted: { word: 'given up', tone: 'bad', icon: 'failed' },
  NodeVersionStatusPending: { word: 'being checked', tone: 'info', icon: 'checking' },
  NodeVersionStatusActive: { word: 'live', tone: 'ok', icon: 'live' },
  NodeVersionStatusFlagged: { word: 'held back', tone: 'warn', icon: 'held' },
  NodeVersionStatusBanned: { word: 'banned', tone: 'bad', icon: 'cancelled' },
  NodeVersionStatusDeleted: { word: 'deleted', tone: 'soft', icon: 'removed' },
  NodeStatusActive: { word: 'live', tone: 'ok', icon: 'live' },
  NodeStatusBanned: { word: 'banned', tone: 'bad', icon: 'cancelled' },
  NodeStatusDeleted: { word: 'deleted', tone: 'soft', icon: 'removed' },
  PublisherStatusActive: { word: 'live', tone: 'ok', icon: 'live' },
  PublisherStatusBanned: { word: 'banned', tone: 'bad', icon: 'cancelled' },
}

/** The words of a state; of one that the page does not know, the API's own. */
export const wordsOf = (state: string): StateWords =>
  STATES[state] ?? { word: state.replaceAll('_', ' '), tone: 'soft', icon: 'waiting' }
