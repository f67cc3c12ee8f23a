import { withinDeadline, type Sql } from '../platform/db/client.ts'
import { listOwnerRules } from './db/owner-limit.ts'
import { customName } from './domain/custom-kind.ts'
import type { EngineName } from './domain/engine.ts'

/** Rules of single owners, read every few seconds. */
export interface OwnerRules {
  refresh(): Promise<void>
  /** Factor of the numbers of requests; 1 of an owner without one. */
  rateFactor(owner: string): number
  engine(owner: string): EngineName | undefined
}

export const makeOwnerRules = (sql: Sql): OwnerRules => {
  let known = new Map<string, { rateFactor: number | null; engine: EngineName | null }>()
  return {
    async refresh() {
      const rows = await withinDeadline(sql, listOwnerRules(sql))
      known = new Map(rows.map(({ owner, ...rules }) => [owner, rules]))
    },
    rateFactor: (owner) => known.get(owner)?.rateFactor ?? 1,
    engine: (owner) => known.get(owner)?.engine ?? undefined,
  }
}

/** Makes the function that finds the engine of an owner's tasks of a kind. Templates are for a fleet alone. */
export const makeOwnerEngine =
  (rules: Pick<OwnerRules, 'engine'>, engineOf: (kind: string) => EngineName) =>
  (kind: string, owner: string): EngineName =>
    (customName(kind) === undefined ? rules.engine(owner) : undefined) ?? engineOf(kind)
