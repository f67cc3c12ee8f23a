import { makeCheckArchive, type CheckActivities } from './check-archive.ts'
import type { InspectDependencies } from './dependencies.ts'
import { makeInspectArchive, type InspectActivities } from './inspect-archive.ts'
import { makeReinspect, type ReinspectActivities } from './reinspect.ts'

/** Activities of a media worker that read archives. */
export const createInspectActivities = (
  deps: InspectDependencies,
): InspectActivities & CheckActivities & ReinspectActivities => ({
  ...makeReinspect(deps),
  inspectArchive: makeInspectArchive(deps),
  checkArchive: makeCheckArchive(deps),
})
