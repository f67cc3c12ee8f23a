import type { CoreDependencies } from './dependencies.ts'
import { makeImageTaskMoves } from './image-task.ts'
import { makePurgeExpired } from './purge-expired.ts'
import { makeRenderImageTask } from './render-image-task.ts'
import type { MediaDependencies } from './dependencies.ts'

/** Activities of the core worker: moves, each one short transaction, and removal by age. */
export const createCoreActivities = (deps: CoreDependencies) => ({
  ...makeImageTaskMoves(deps),
  purgeExpired: makePurgeExpired(deps),
})

/** Activities of the media worker: everything that takes CPU. */
export const createMediaActivities = (deps: MediaDependencies) => ({
  renderImageTask: makeRenderImageTask(deps),
})

export type CoreActivities = ReturnType<typeof createCoreActivities>
export type MediaActivities = ReturnType<typeof createMediaActivities>
