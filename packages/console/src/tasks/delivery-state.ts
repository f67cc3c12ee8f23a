import type { TaskEvent } from './types.ts'

/** State of a delivery in the page's words: one of which an attempt has failed is retried. */
export const stateOf = ({
  state,
  attempts,
  next_attempt_at: next,
}: Pick<TaskEvent, 'state' | 'attempts' | 'next_attempt_at'>): string =>
  state === 'pending' && attempts > 0 && next !== undefined ? 'retrying' : state
