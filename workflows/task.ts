import { defineSignal, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow'

/** The API has moved the task to its end; whatever works on it is to stop. Carries the outbox row's id; a repetition changes nothing. */
export const cancelRequested = defineSignal<[{ id: string }]>('cancelRequested')

/** Final status of a task and its reason, for an operator who looks at the workflow. */
export interface TaskEnd {
  status: string
  reason: string
}

export const showTaskEnd = (status: string, reason: string): TaskEnd => {
  setCurrentDetails(`**${status}**: ${reason}`)
  upsertSearchAttributes([{ key: { name: 'KilnStatus', type: 'KEYWORD' }, value: status }])
  return { status, reason }
}
