import { wordsOf } from '../words/states.ts'
import { t } from '../words/translate.ts'
import type { TaskEvent } from './types.ts'

/** State of a delivery in the page's words: one of which an attempt has failed is retried. */
export const stateOf = ({
  state,
  attempts,
  next_attempt_at: next,
}: Pick<TaskEvent, 'state' | 'attempts' | 'next_attempt_at'>): string =>
  state === 'pending' && attempts > 0 && next !== undefined ? 'retrying' : state

/** Word of a state in a filter, which `pending` has for both of its words in a list. */
export const filterWord = (state: TaskEvent['state']): string =>
  state === 'pending' ? t('waiting or retrying') : wordsOf(state).word
