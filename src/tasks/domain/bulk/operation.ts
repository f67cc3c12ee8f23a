import { Type, type Static } from 'typebox'

import { queryText, uuid } from '../../../platform/domain/schema-fields.ts'
import { ALL } from '../../../platform/domain/time-bounds.ts'
import { TaskQuery } from '../task-item.ts'
import { LABEL_LIST, LabelText } from '../task-options.ts'
import { count, ItemError, next, progress } from './bulk.ts'

export const OperationAction = Type.Enum(['cancel', 'run_again', 'redeliver', 'delete'], {
  description:
    '`cancel` what can be; `run_again`: a new task of the stored request; `redeliver` the exhausted events; `delete` with all files, a video that is being rendered at its end.',
})
export type OperationAction = Static<typeof OperationAction>

const PAGING = ['limit', 'after'] as const
const chosen = {
  task_ids: Type.Optional(
    Type.Array(Type.String({ format: 'uuid' }), {
      minItems: 1,
      maxItems: 1000,
      description: 'These tasks, in place of all other members.',
    }),
  ),
}

/** The query of a list of tasks. */
const OperationFilter = Type.Object({
  ...Type.Omit(TaskQuery, PAGING).properties,
  label: Type.Optional(Type.Array(LabelText, LABEL_LIST)),
  ...chosen,
})
export type OperationFilter = Static<typeof OperationFilter>

/** Name of all owners together, where one is named. */
export const ALL_OWNERS = '*'

export const NewOperation = Type.Object({
  action: OperationAction,
  filter: OperationFilter,
  all: ALL,
  dry_run: Type.Optional(
    Type.Boolean({ default: false, description: 'Only count the tasks that it would act on now.' }),
  ),
  owner: Type.Optional(
    queryText(255, 'For platform admins: whose tasks in place of their own; `*`: those of all.'),
  ),
})
export type NewOperation = Static<typeof NewOperation>

export const MadeOperation = Type.Object({ operation_id: uuid('Id of the operation.') })
export const OperationDryRun = Type.Object({
  dry_run: Type.Boolean(),
  matched: count('Tasks that it would act on.'),
})

export const OperationCounts = Type.Object(
  {
    pending: count('Not acted on yet.'),
    done: count('Done.'),
    rejected: count('Could not be: the results have the reason.'),
    not_done: count('Not acted on, because the operation was cancelled.'),
  },
  { description: 'Tasks by what was done.' },
)
export type OperationCounts = Static<typeof OperationCounts>

export const Operation = Type.Object({
  ...MadeOperation.properties,
  action: OperationAction,
  filter: Type.Object({}, { additionalProperties: true, description: 'As it was given.' }),
  ...progress,
  counts: OperationCounts,
})
export type Operation = Static<typeof Operation>

export const OperationPage = Type.Object({
  operations: Type.Array(Type.Omit(Operation, ['counts']), { description: 'Newest first.' }),
  next,
})

export const OperationLine = Type.Object({
  index: count('Place of the task, from 0: the newest first.'),
  task_id: uuid('The task.'),
  state: Type.Enum(['pending', 'done', 'rejected', 'not_done']),
  new_task_id: Type.Optional(uuid('The task that `run_again` has made.')),
  redeliveries: Type.Optional(count('Events that `redeliver` sends again.')),
  error: Type.Optional(ItemError),
})
export type OperationLine = Static<typeof OperationLine>
