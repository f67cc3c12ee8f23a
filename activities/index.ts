import { deleteOldAttempts } from '../src/events/db/attempt.ts'
import { deleteOldEndpointEvents } from '../src/events/db/endpoint.ts'
import { deleteOldRecords } from '../src/platform/db/purge.ts'
import { deleteOldPlacements } from '../src/engines/db/placement.ts'
import { makeBulkTransitions } from './tasks/bulk-life.ts'
import { makeEventActivities } from './events/delivery.ts'
import type { DeliveryDependencies } from './events/dependencies.ts'
import { makePurgeExpired } from './platform/purge-expired.ts'
import { makeTaskPurges } from './tasks/task-purge.ts'
import { makeRegistryPurges } from './registry/version-purge.ts'
import { makeRefreshStars } from './registry/refresh-stars.ts'
import type { StarsDependencies } from './registry/dependencies.ts'
import { makeSendAttempt } from './events/send-attempt.ts'
import { makeTaskTransitions } from './tasks/task.ts'
import type { CoreDependencies } from './tasks/dependencies.ts'
import { makeVersionTransitions } from './registry/version.ts'

/** Activities of the core worker: transitions, each one short transaction, webhooks, removal by age, stars. */
export const createCoreActivities = (
  deps: CoreDependencies & DeliveryDependencies & StarsDependencies,
) => ({
  ...makeBulkTransitions(deps),
  ...makeEventActivities(deps, makeSendAttempt(deps)),
  ...makeTaskTransitions(deps),
  ...makeVersionTransitions(deps),
  purgeExpired: makePurge(deps),
  refreshStars: makeRefreshStars(deps),
})

/** Makes the removal by age of all areas. */
export const makePurge = (deps: CoreDependencies) => {
  const { sql, retentionDays } = deps
  const records = [
    () => deleteOldRecords(sql),
    () => deleteOldAttempts(sql, retentionDays),
    () => deleteOldEndpointEvents(sql, retentionDays),
    () => deleteOldPlacements(sql, retentionDays),
  ]
  return makePurgeExpired(deps, [{ records }, makeTaskPurges(deps), makeRegistryPurges(deps)])
}

export type CoreActivities = ReturnType<typeof createCoreActivities>
