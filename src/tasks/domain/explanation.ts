import { Type, type Static } from 'typebox'

import { uuid } from '../../platform/domain/schema-fields.ts'
import { TaskState } from './task-item.ts'

const Finding = Type.Object({
  about: Type.Enum(['task', 'wait', 'workflow', 'placement', 'attempt', 'delivery']),
  text: Type.String({ description: 'What is known of it, in a sentence or two.' }),
})
export type Finding = Static<typeof Finding>

/** Response of GET /admin/tasks/{id}/explanation. */
export const TaskExplanation = Type.Object({
  task_id: uuid('Id of the task.'),
  state: TaskState,
  findings: Type.Array(Finding, { description: 'From its row to its deliveries.' }),
  next_steps: Type.Array(Type.String(), {
    minItems: 1,
    description: 'What an operator does next, the most urgent first.',
  }),
})
export type TaskExplanation = Static<typeof TaskExplanation>
