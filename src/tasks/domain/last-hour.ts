import { Type, type Static } from 'typebox'

import { count } from '../../platform/domain/schema-fields.ts'
import { Percentiles } from './usage.ts'

/** Most tasks, and most attempts at deliveries, that are counted: of more, the newest. */
export const MAX_COUNTED = 10_000

const rate = Type.Number({
  minimum: 0,
  description: `For each minute of the hour; of more than ${MAX_COUNTED.toLocaleString('en')}, of the time of the newest so many.`,
})

/** Events within the last hour: rates and percentiles, where all else of the page is of this moment. */
export const LastHour = Type.Object({
  tasks: Type.Array(
    Type.Object({
      kind: Type.String(),
      ended: count('Tasks that ended.'),
      failed: count('Those that failed.'),
      per_minute: rate,
      waiting: { ...Percentiles, description: 'Seconds until they began.' },
      running: { ...Percentiles, description: 'Seconds from there to the end.' },
    }),
    { description: 'By kind, that of the most first. Tasks whose files are gone do not count.' },
  ),
  deliveries: Type.Object({
    attempts: count('Requests to webhook URLs.'),
    failed: count('Those that did not deliver.'),
    per_minute: rate,
    seconds: { ...Percentiles, description: 'Time until the response.' },
  }),
})
export type LastHour = Static<typeof LastHour>

const HOUR_SECONDS = 3600

/** Rate a minute. @param seconds since the first that was counted, which is the span unless all of the hour were */
export const toRate = (
  found: number,
  { seconds, isAll }: { seconds: number; isAll: boolean },
): number => {
  const minutes = (isAll ? HOUR_SECONDS : Math.max(1, seconds)) / 60
  return Math.round((found / minutes) * 100) / 100
}
