import { withinDeadline, type Sql } from '../../platform/db/client.ts'
import { countInstances, countWaiting, listFailingEngines } from '../db/fleet.ts'
import { InstanceState } from '../../tasks/domain/fleet.ts'
import type { Metrics } from '../../platform/process/metrics.ts'

/** Makes the function that reads and shows the instances of ComfyUI and what waits for them. */
export const makeFleetReader = ({ sql, metrics }: { sql: Sql; metrics: Metrics }) => {
  const labels: 'template'[] = ['template']
  const instances = metrics.gauge('comfyui_instances', 'Instances of ComfyUI.', ['state'])
  const waits = metrics.gauge('comfyui_tasks_waiting', 'Tasks that no instance has.', labels)
  const ages = metrics.gauge('comfyui_oldest_seconds', 'Age of the oldest of them.', labels)
  const away = metrics.gauge(
    'engine_away_tasks',
    'Open tasks of an engine of which no instance takes any; absent of one that does.',
    ['engine'],
  )
  return async (): Promise<void> => {
    const none = [[], [], []] as const
    const [states, queues, engines] = await withinDeadline(
      sql,
      Promise.all([countInstances(sql), countWaiting(sql), listFailingEngines(sql)]),
    ).catch(() => none)
    for (const gauge of [instances, waits, ages, away]) gauge.reset()
    // An alert compares with the ones that are well, which must not be absent where there are none.
    if (states.length > 0) for (const state of InstanceState.enum) instances.set({ state }, 0)
    for (const { state, count } of states) instances.set({ state }, count)
    for (const { engine, scope, tasks } of engines) if (scope === null) away.set({ engine }, tasks)
    for (const { template, tasks, oldest_seconds: seconds } of queues) {
      waits.set({ template }, tasks)
      ages.set({ template }, seconds)
    }
  }
}
