import type { InspectDependencies } from './dependencies.ts'
import { makeInspectArchive, type InspectActivities } from './inspect-archive.ts'
import { makeReinspect, type ReinspectActivities } from './reinspect.ts'

/** Activities of a media worker that read archives. */
export const createInspectActivities = (
  deps: InspectDependencies,
): InspectActivities & ReinspectActivities => ({
  ...makeReinspect(deps),
  inspectArchive: makeInspectArchive(deps),
})
