import { Context } from '@temporalio/activity'

/** A run under way: what stands in for its activities, and the moves it has asked for. */
export interface Running<Scenario> {
  scenario: Scenario
  moves: unknown[][]
}

/** Runs by the id of their task. */
export type Runs<Scenario> = Map<string, Running<Scenario>>

export const getRun = <Scenario>(runs: Runs<Scenario>, taskId: string): Running<Scenario> => {
  const found = runs.get(taskId)
  if (found) return found
  throw new Error(`${Context.current().info.activityType} of a task that no run has`)
}
