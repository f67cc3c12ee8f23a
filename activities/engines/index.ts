import type { RenderActivities } from '../tasks/task.ts'
import { makeComfyImages } from './comfyui-images.ts'
import { makeComfyVideo } from './comfyui-video.ts'
import type {
  ComfyDependencies,
  EngineDependencies,
  LocalDependencies,
  VendorDependencies,
} from './dependencies.ts'
import { makeEngineImages, makeEngineVideo } from './engine-images.ts'
import { makeLocalImages, makeRenderImageTask } from './render-image-task.ts'
import { makeLocalVideo, makeRenderVideoTask } from './render-video-task.ts'
import { makeVendorImages } from './vendor-images.ts'
import { makeVendorVideo } from './vendor-video.ts'

/** Renders of this service's own engines. */
export const createLocalActivities = (deps: LocalDependencies) =>
  ({
    renderImageTask: makeRenderImageTask(deps, makeLocalImages(deps)),
    renderVideoTask: makeRenderVideoTask(deps, makeLocalVideo(deps)),
  }) satisfies RenderActivities

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

/** Activities for the queue of an engine of ENGINES_HTTP. */
export const createEngineActivities = (deps: EngineDependencies) =>
  ({
    renderImageTask: makeRenderImageTask(deps, makeEngineImages(deps)),
    renderVideoTask: makeRenderVideoTask(deps, makeEngineVideo(deps)),
  }) satisfies RenderActivities
