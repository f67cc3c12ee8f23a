import type { Sql } from '../db/client.ts'
import type { UnitDeps } from '../db/unit-of-work.ts'

/** Dependencies of a route that reads the database. */
export interface ReadDeps {
  sql: Sql
}

/** Dependencies of a route that commits a change: `unitOfWork` also notifies Temporal and whoever watches the row. */
export type CommitDeps = Required<UnitDeps>
