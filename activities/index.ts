import { deleteOldAttempts } from '../src/db/event/attempt.ts'
import { deleteOldEndpointEvents } from '../src/db/event/endpoint.ts'
import { deleteOldRecords } from '../src/db/shared/purge.ts'
import { deleteOldPlacements } from '../src/db/task/placement.ts'
import { makeBulkTransitions } from './bulk-life.ts'
import { makeComfyImages } from './comfyui-images.ts'
import { makeComfyVideo } from './comfyui-video.ts'
import type {
  ComfyDependencies,
  LocalDependencies,
  VendorDependencies,
} from './engines/dependencies.ts'
import { makeEventActivities } from './event.ts'
import type { DeliveryDependencies } from './events/dependencies.ts'
import { makeInspectArchive } from './inspect-archive.ts'
import { makePurgeExpired } from './purge-expired.ts'
import { makeTaskPurges } from './task-purge.ts'
import { makeRegistryPurges } from './version-purge.ts'
import { makeRefreshStars } from './refresh-stars.ts'
import type { InspectDependencies, StarsDependencies } from './registry/dependencies.ts'
import { makeReinspect } from './reinspect.ts'
import { makeLocalImages, makeRenderImageTask } from './render-image-task.ts'
import { makeSendAttempt } from './send-attempt.ts'
import { makeLocalVideo, makeRenderVideoTask } from './render-video-task.ts'
import { makeTaskTransitions, type RenderActivities } from './task.ts'
import type { CoreDependencies } from './tasks/dependencies.ts'
import { makeVersionTransitions } from './version.ts'
import { makeVendorImages } from './vendor-images.ts'
import { makeVendorVideo } from './vendor-video.ts'

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
