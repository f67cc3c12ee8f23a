import { ApplicationFailure, Context } from '@temporalio/activity'

/** A run under way: what stands in for its activities, and the moves it has asked for. */
export interface Running<Scenario> {
  scenario: Scenario
  calls: unknown[][]
}

/** Runs by the id of their task. */
export type Runs<Scenario> = Map<string, Running<Scenario>>

export const getRun = <Scenario>(runs: Runs<Scenario>, taskId: string): Running<Scenario> => {
  const found = runs.get(taskId)
  if (found) return found
  const { activityType } = Context.current().info
  throw ApplicationFailure.nonRetryable(`${activityType} of a task that no run has`)
}

/** Records a move that a run asks for, and returns what stands in for its activities. */
export const recordCall = <Scenario>(
  runs: Runs<Scenario>,
  taskId: string,
  ...call: readonly unknown[]
): Scenario => {
  const { scenario, calls } = getRun(runs, taskId)
  calls.push([...call])
  return scenario
}

type Activity = (...args: never[]) => Promise<unknown>

/**
 * Returns the first result of a local activity that runs again: where a machine is busy, Temporal gives a workflow task to
 * a worker once more. The transitions of the service are repeatable; those that stand in for them would count twice.
 */
export const onceEach = <T extends Record<string, Activity>>(activities: T): T => {
  const done = new Map<string, Promise<unknown>>()
  const respondOnce = async (work: Activity, args: never[]): Promise<unknown> => {
    const { isLocal, activityId, workflowExecution } = Context.current().info
    const key = `${workflowExecution?.runId} ${activityId}`
    const known = isLocal ? done.get(key) : undefined
    if (known) return await known
    const outcome = work(...args)
    if (await outcome.then(() => true, isFinal)) done.set(key, outcome)
    return await outcome
  }
  const named = Object.entries(activities).map(([name, work]) => [
    name,
    (...args: never[]) => respondOnce(work, args),
  ])
  return Object.fromEntries(named) as T
}

/** True when no further attempt follows the error. */
const isFinal = (error: unknown): boolean =>
  error instanceof ApplicationFailure && error.nonRetryable === true
