import { deleteOldAttempts } from '../src/db/event/attempt.ts'
import { deleteOldEndpointEvents } from '../src/db/event/endpoint.ts'
import { deleteOldRecords } from '../src/db/shared/purge.ts'
import { deleteOldPlacements } from '../src/db/task/placement.ts'
import { makeBulkActivities } from './bulk.ts'
import { makeBulkTransitions } from './bulk-life.ts'
import { makeComfyImages } from './comfyui-images.ts'
import { makeComfyVideo } from './comfyui-video.ts'
import type {
  BulkDependencies,
  ComfyDependencies,
  CoreDependencies,
  DeliveryDependencies,
  MediaDependencies,
  StarsDependencies,
  VendorDependencies,
} from './dependencies.ts'
import { makeEventActivities } from './event.ts'
import { makeInspectArchive } from './inspect-archive.ts'
import { makePurgeExpired } from './purge-expired.ts'
import { makeTaskPurges } from './task-purge.ts'
import { makeRegistryPurges } from './version-purge.ts'
import { makeRefreshStars } from './refresh-stars.ts'
import { makeReinspect } from './reinspect.ts'
import { makeLocalImages, makeRenderImageTask } from './render-image-task.ts'
import { makeSendAttempt } from './send-attempt.ts'
import { makeLocalVideo, makeRenderVideoTask } from './render-video-task.ts'
import { makeTaskTransitions } from './task.ts'
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
  } satisfies Partial<MediaActivities>
}

/** Activities for the queue of a fleet of ComfyUI. */
export const createComfyActivities = (deps: ComfyDependencies) =>
  ({
    renderImageTask: makeRenderImageTask(deps, makeComfyImages(deps)),
    renderVideoTask: makeRenderVideoTask(deps, makeComfyVideo(deps)),
  }) satisfies Partial<MediaActivities>

/** Activities for the queue of batches and operations. */
export const createBulkActivities = (deps: BulkDependencies) => makeBulkActivities(deps)

export type BulkActivities = ReturnType<typeof createBulkActivities>
export type CoreActivities = ReturnType<typeof createCoreActivities>
export type { DeliveryDone, DeliveryStep, DueDelivery } from './event.ts'
export type { ReextractedVersion, RescannedVersion } from './reinspect.ts'
export type { ArchiveWait } from './version.ts'
export type MediaActivities = ReturnType<typeof createMediaActivities>
