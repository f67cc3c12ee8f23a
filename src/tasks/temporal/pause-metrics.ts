import { withinDeadline, type Sql } from '../../platform/db/client.ts'
import { listBreakers } from '../db/breaker.ts'
import { listPauses } from '../db/pause.ts'
import type { Metrics } from '../../platform/process/metrics.ts'

/** Makes the function that reads and shows what is paused. */
export const makePauseReader = ({ sql, metrics }: { sql: Sql; metrics: Metrics }) => {
  const pauses = metrics.gauge('pauses', 'Pauses by admins, by what they are of.', ['of'])
  const breakers = metrics.gauge('breaker_open', 'Whether an engine is paused because it fails.', [
    'engine',
  ])
  return async (): Promise<void> => {
    const [active, engines] = await withinDeadline(
      sql,
      Promise.all([listPauses(sql), listBreakers(sql)]),
    ).catch(() => [[], []] as const)
    for (const gauge of [pauses, breakers]) gauge.reset()
    for (const { scope, breaker } of active)
      if (!breaker) pauses.inc({ of: scope.replace(/:.*/s, '') })
    for (const { scope, isOpen } of engines)
      breakers.set({ engine: scope.slice('engine:'.length) }, isOpen ? 1 : 0)
  }
}
