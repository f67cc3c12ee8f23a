import type { WorkflowHandle } from '@temporalio/client'

type History = Awaited<ReturnType<WorkflowHandle['fetchHistory']>>
type Event = NonNullable<History['events']>[number]

/** Actions of Temporal Cloud by what they are for. */
export type Actions = Record<string, number>

/**
 * Counts the Actions that the history of a run was billed as by Temporal Cloud (docs.temporal.io/evaluate/cloud/actions, read
 * on 2026-11-29): each start of a run, also of one that goes on as new; two for a child, one of which is its own start; each
 * attempt at an activity; all markers of one workflow task together, which local activities leave; each timer; each upsert
 * of search attributes; each signal, but none beside the start that brings it; each update and each change of options.
 * Heartbeats and queries leave no event. A workflow task that only prolongs itself for a local activity is not counted, since
 * its events are those of any other; nor is what a namespace with fairness pays, a tenth of each Action.
 */
export const countActions = (events: readonly Event[]): Actions => {
  const actions: Actions = {}
  const markers = new Set<string>()
  for (const [index, event] of events.entries()) {
    const marker = event.markerRecordedEventAttributes
    if (marker) markers.add(String(marker.workflowTaskCompletedEventId))
    for (const [what, count] of Object.entries(COUNTS)) {
      const more = count(event, index)
      if (more > 0) actions[what] = (actions[what] ?? 0) + more
    }
  }
  return markers.size > 0 ? { ...actions, 'local activities': markers.size } : actions
}

const one = (attributes: unknown): number => (attributes ? 1 : 0)

const COUNTS: Record<string, (event: Event, index: number) => number> = {
  start: (event) => one(event.workflowExecutionStartedEventAttributes),
  child: (event) => one(event.startChildWorkflowExecutionInitiatedEventAttributes),
  activity: (event) => one(event.activityTaskScheduledEventAttributes),
  // An attempt that failed is known by the number of the next one.
  retry: ({ activityTaskStartedEventAttributes: started }) => (started?.attempt ?? 1) - 1,
  'local retry': ({ workflowTaskCompletedEventAttributes: done }) =>
    Math.min(done?.meteringMetadata?.nonfirstLocalActivityExecutionAttempts ?? 0, 100),
  timer: (event) => one(event.timerStartedEventAttributes),
  upsert: (event) => one(event.upsertWorkflowSearchAttributesEventAttributes),
  // The second event is the signal of a start that brings one. A workflow's own signal is counted where it is sent.
  signal: ({ workflowExecutionSignaledEventAttributes: came, ...event }, index) =>
    one(came && index !== 1 && !came.externalWorkflowExecution) +
    one(event.signalExternalWorkflowExecutionInitiatedEventAttributes),
  update: (event) => one(event.workflowExecutionUpdateAcceptedEventAttributes),
  options: (event) => one(event.workflowExecutionOptionsUpdatedEventAttributes),
}

export const addActions = (some: Actions, others: Actions, sign: 1 | -1 = 1): Actions => {
  const sum = { ...some }
  for (const [what, count] of Object.entries(others)) sum[what] = (sum[what] ?? 0) + sign * count
  return Object.fromEntries(Object.entries(sum).filter(([, count]) => count !== 0))
}

export const totalOf = (actions: Actions): number =>
  Object.values(actions).reduce((sum, count) => sum + count, 0)
