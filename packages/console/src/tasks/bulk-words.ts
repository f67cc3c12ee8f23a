import { showNumber } from '../words/language.ts'
import { wordsOf } from '../words/states.ts'
import { t } from '../words/translate.ts'
import type { Bulk, BulkItem } from './bulk-queries.ts'
import { describe, nameOperation } from './operation.tsx'

/** `8 requests`, or `Cancel 60 tasks`. */
export const titleOfBulk = (bulk: BulkItem): string => {
  if ('batch_id' in bulk)
    return bulk.total > 0
      ? t('{count, plural, one {# request} other {# requests}}', { count: bulk.total })
      : t('Requests')
  return nameOperation(bulk.action, bulk.total)
}

/** State of one, which is not just done where some of it was rejected or has failed. */
export const stateOfBulk = ({ state, counts }: Bulk): string => {
  const failed = counts.rejected + ('failed' in counts ? counts.failed : 0)
  return state === 'done' && failed > 0 ? 'done_with_errors' : state
}

/** `5 done, 1 failed, 2 rejected`; of an operation what was done. */
export const describeBulk = (bulk: Bulk): string => {
  if ('operation_id' in bulk) return describe(bulk)
  const counts = Object.entries(bulk.counts).filter(([, count]) => count > 0)
  return counts.map(([state, count]) => `${showNumber(count)} ${wordsOf(state).word}`).join(', ')
}
