import { Type, type Static } from 'typebox'

import { count, instant } from './schema-fields.ts'

const OutboxRow = Type.Object({
  workflow_id: Type.String(),
  kind: Type.Enum(['start', 'restart', 'signal']),
  tries: count('Attempts to send it to Temporal.'),
  at: instant('When it was written.'),
  last_error: Type.Optional(Type.String({ description: 'Why the last attempt failed.' })),
})
/** Messages to Temporal that wait to be sent. */
export const WaitingOutbox = Type.Object({
  waiting: count('Rows, of which no more than 10,000 are counted.'),
  rows: Type.Array(OutboxRow, { description: 'The 20 that have waited longest.' }),
})
export type WaitingOutbox = Static<typeof WaitingOutbox>
