import type { LocalDependencies } from '../../activities/engines/dependencies.ts'
import { createLocalActivities } from '../../activities/engines/index.ts'
import type { InspectDependencies } from '../../activities/registry/dependencies.ts'
import { createInspectActivities } from '../../activities/registry/index.ts'

export type MediaDependencies = LocalDependencies & InspectDependencies

/** All activities of a media worker. */
export const createMediaActivities = (deps: MediaDependencies) => ({
  ...createInspectActivities(deps),
  ...createLocalActivities(deps),
})

export type MediaActivities = ReturnType<typeof createMediaActivities>
