import { deleteOldAttempts } from '../src/events/db/attempt.ts'
import { deleteOldEndpointEvents } from '../src/events/db/endpoint.ts'
import { deleteOldRecords } from '../src/platform/db/purge.ts'
import { deleteOldPlacements } from '../src/engines/db/placement.ts'
import { makeBulkTransitions } from './tasks/bulk-life.ts'
import { makeComfyImages } from './engines/comfyui-images.ts'
import { makeComfyVideo } from './engines/comfyui-video.ts'
import type {
  ComfyDependencies,
  LocalDependencies,
  VendorDependencies,
} from './engines/dependencies.ts'
import { makeEventActivities } from './events/event.ts'
import type { DeliveryDependencies } from './events/dependencies.ts'
import { makeInspectArchive } from './registry/inspect-archive.ts'
import { makePurgeExpired } from './platform/purge-expired.ts'
import { makeTaskPurges } from './tasks/task-purge.ts'
import { makeRegistryPurges } from './registry/version-purge.ts'
import { makeRefreshStars } from './registry/refresh-stars.ts'
import type { InspectDependencies, StarsDependencies } from './registry/dependencies.ts'
import { makeReinspect } from './registry/reinspect.ts'
import { makeLocalImages, makeRenderImageTask } from './engines/render-image-task.ts'
import { makeSendAttempt } from './events/send-attempt.ts'
import { makeLocalVideo, makeRenderVideoTask } from './engines/render-video-task.ts'
import { makeTaskTransitions, type RenderActivities } from './tasks/task.ts'
import type { CoreDependencies } from './tasks/dependencies.ts'
import { makeVersionTransitions } from './registry/version.ts'
import { makeVendorImages } from './engines/vendor-images.ts'
import { makeVendorVideo } from './engines/vendor-video.ts'

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

export type MediaDependencies = LocalDependencies & InspectDependencies
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

/** Activities of the media worker: everything that takes CPU. */
export const createMediaActivities = (deps: MediaDependencies) => ({
  ...makeReinspect(deps),
  inspectArchive: makeInspectArchive(deps),
  renderImageTask: makeRenderImageTask(deps, makeLocalImages(deps)),
  renderVideoTask: makeRenderVideoTask(deps, makeLocalVideo(deps)),
})

/** Activities for the queue of upstreams: the same renders, which wait more than they work. */
export const createVendorActivities = (deps: VendorDependencies) => {
  const { image, video } = deps.upstreams
  return {
    ...(image && { renderImageTask: makeRenderImageTask(deps, makeVendorImages(deps, image)) }),
    ...(video && { renderVideoTask: makeRenderVideoTask(deps, makeVendorVideo(deps, video)) }),
  } satisfies Partial<RenderActivities>
}

/** Activities for the queue of a fleet of ComfyUI. */
export const createComfyActivities = (deps: ComfyDependencies) =>
  ({
    renderImageTask: makeRenderImageTask(deps, makeComfyImages(deps)),
    renderVideoTask: makeRenderVideoTask(deps, makeComfyVideo(deps)),
  }) satisfies RenderActivities

export type CoreActivities = ReturnType<typeof createCoreActivities>
export type MediaActivities = ReturnType<typeof createMediaActivities>
