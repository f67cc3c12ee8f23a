import { Type, type Static } from 'typebox'

import { count, instant } from './schema-fields.ts'

const Poller = Type.Object({
  identity: Type.String({ description: 'The process and its host.' }),
  release: Type.Optional(Type.String({ description: 'Release of Kiln that it runs.' })),
  seen_at: Type.Optional(instant('When it last asked for work.')),
})
const Queue = Type.Object({
  name: Type.String(),
  type: Type.Enum(['workflow', 'activity']),
  backlog: count('About how much work waits for a worker.'),
  backlog_age_seconds: count('About how long the oldest of it has waited.'),
  pollers: Type.Array(Poller, { description: 'Workers that have lately asked for work.' }),
})

/** Work in the queues of Temporal, and the workers that ask for it. */
export const TemporalState = Type.Object({
  reachable: Type.Boolean({ description: 'False: nothing is known of its queues.' }),
  ui_url: Type.Optional(Type.String({ description: 'Its UI, with TEMPORAL_UI_URL.' })),
  views: Type.Optional(
    Type.Array(Type.Object({ name: Type.String(), url: Type.String() }), {
      description: 'Lists of workflows there that operators look at.',
    }),
  ),
  error: Type.Optional(Type.String({ description: 'Why it cannot be reached.' })),
  queues: Type.Array(Queue),
})
export type TemporalState = Static<typeof TemporalState>
