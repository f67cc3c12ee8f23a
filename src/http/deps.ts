import type { Sql } from '../db/client.ts'
import type { UnitDeps } from '../db/unit-of-work.ts'

/** What a route takes that reads the database. */
export interface ReadDeps {
  sql: Sql
}

/** What a route takes that commits a change: `unitOfWork` also tells Temporal and whoever watches the row. */
export type CommitDeps = Required<UnitDeps>
