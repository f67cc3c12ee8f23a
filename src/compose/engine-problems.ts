import { listAwaitedEngines, listFailingEngines } from '../engines/db/fleet.ts'
import { describeAwaitedEngine, describeFailingEngine } from '../engines/domain/engine-problem.ts'
import type { Sql } from '../platform/db/client.ts'

interface EngineProblem {
  message: string
  since?: string
  /** Scope of an open breaker. */
  scope?: string
}

/** Lists the engines that make no task now, with why and what to do: for Operations and the doctor alike. */
export const listEngineProblems = async (sql: Sql): Promise<EngineProblem[]> => {
  const [awaited, failing] = await Promise.all([listAwaitedEngines(sql), listFailingEngines(sql)])
  const isAwaited = (name: string) => awaited.some(({ engine }) => engine === name)
  return [
    ...awaited.map((engine) => ({ message: describeAwaitedEngine(engine) })),
    ...failing
      .filter(({ engine }) => !isAwaited(engine))
      .map(({ since, scope, ...engine }) => ({
        message: describeFailingEngine({ since, scope, ...engine }),
        since,
        ...(scope !== null && { scope }),
      })),
  ]
}
