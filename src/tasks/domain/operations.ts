import { Type, type Static } from 'typebox'

import { count, instant, reason, uuid } from '../../platform/domain/schema-fields.ts'
import { TemporalState } from '../../platform/domain/temporal-state.ts'
import { WaitingOutbox } from '../../platform/domain/waiting-outbox.ts'
import { LastHour } from './last-hour.ts'

const TASK = {
  id: uuid('Id of the task.'),
  family: Type.Enum(['image', 'video']),
  kind: Type.String(),
  owner: Type.String({ description: 'Id of its owner.' }),
  status: Type.String({ description: 'Its status, in the words of its family.' }),
}
const VERSION = { id: uuid('Id of the version.'), node_id: Type.String(), version: Type.String() }
const since = instant('Its last move.')

const StuckTask = Type.Object({ ...TASK, since })
export type StuckTask = Static<typeof StuckTask>

const StuckVersion = Type.Object({
  ...VERSION,
  reason: Type.String({ description: 'Where its checks stand.' }),
  since,
})
export type StuckVersion = Static<typeof StuckVersion>

const DeliveryHost = Type.Object({
  host: Type.String({ description: 'Its host, with its port.' }),
  waiting: count('Events and redeliveries.'),
  failing: count('Those that were tried in vain.'),
  failing_since: Type.Optional(instant('When the oldest of these was made.')),
  failing_owners: Type.Optional(
    Type.Array(Type.String(), { description: 'Whose they are: three owners at most.' }),
  ),
  failing_owners_total: Type.Optional(count('All owners of these.')),
  oldest_at: instant('When the oldest was made.'),
  next_try_at: Type.Optional(instant('When the next attempt after a failed one is due.')),
  paused: Type.Optional(Type.Boolean({ description: 'True: an admin has paused it.' })),
  last_status: Type.Optional(
    Type.Integer({ description: 'HTTP status of the last attempt that failed, where it got one.' }),
  ),
  last_error_class: Type.Optional(
    Type.String({ description: 'Its class of error, as `error_class` of an attempt.' }),
  ),
})
const WaitingDeliveries = Type.Object({
  waiting: count('Events and redeliveries that are to be delivered.'),
  is_sample: Type.Boolean({ description: 'More than 10,000 wait: the counts are of a sample.' }),
  receivers: Type.Array(DeliveryHost, { description: 'At most 100, those with the most first.' }),
})
export type DeliveryHost = Static<typeof DeliveryHost>
export type WaitingDeliveries = Static<typeof WaitingDeliveries>

/** Response of GET /admin/operations. */
export const Operations = Type.Object({
  problems: Type.Array(
    Type.Object({
      dependency: Type.Enum(['postgres', 'temporal', 'storage', 'workers', 'engines']),
      message: Type.String({ description: 'Why it cannot be used, and what to do.' }),
      since: Type.Optional(instant('Since when, where that is known.')),
      is_urgent: Type.Optional(
        Type.Boolean({ description: 'False: a warning, while all works. Absent: true.' }),
      ),
      scope: Type.Optional(
        Type.String({ description: 'Scope of the open breaker, as GET /admin/pauses has it.' }),
      ),
    }),
    {
      description:
        'What this process cannot use, or soon cannot, as /ready and `kiln_dependency_up` say it; and engines that have not been reached, so that there are no templates of them, whose breaker is open, or of which no instance takes a task.',
    },
  ),
  stuck: Type.Object(
    {
      after_seconds: count('Without a transition for so long.'),
      tasks: Type.Array(StuckTask, {
        description: 'Open tasks, at most 100, except those that wait.',
      }),
      versions: Type.Array(StuckVersion, {
        description: 'Pending versions, at most 100, except those whose upload may still come.',
      }),
    },
    { description: 'The longest first.' },
  ),
  outbox: WaitingOutbox,
  deliveries: WaitingDeliveries,
  last_hour: LastHour,
  temporal: TemporalState,
})

/** Body of POST /admin/tasks/{id}/fail; of the restarts, where the reason may be absent. */
export const FailReason = Type.Object({ reason: reason('Why; for the audit log.') })
export const RestartReason = Type.Partial(FailReason)

const changed = Type.Boolean({ description: 'False: it was so already.' })
export const OperatedTask = Type.Object({ ...TASK, changed })
export const RestartedVersion = Type.Object({ ...VERSION, status: TASK.status, changed })
