import { makeFinishSound, type FinishSound } from '../../../packages/engines/src/finish-sound.ts'
import { makeFinishVideo, type FinishVideo } from '../../../packages/engines/src/finish-video.ts'
import {
  makeVideoEngine,
  type VideoEngineOptions,
} from '../../../packages/engines/src/video-engine.ts'
import { toVideoError } from '../../tasks/adapters/input-error.ts'
import { recordChild } from '../../platform/adapters/orphan.ts'
import type { VideoEngine } from './video-engine.ts'

/** Renders with sharp and ffmpeg on this machine. Its children are recorded, so that the next worker finds them. */
export const makeLocalVideoEngine = (options: VideoEngineOptions): VideoEngine => {
  const engine = makeVideoEngine(recorded(options))
  return {
    name: 'local',
    render: (job, control) => engine.render(job, control).catch(fail),
    probeSource: (source, control) => engine.probeSource(source, control).catch(fail),
  }
}

/**
 * Finishes what another program has made, in the same way.
 * @throws VideoError of the watermark, Error when it is no whole video
 */
export const makeLocalFinishVideo = (options: VideoEngineOptions): FinishVideo => {
  const finish = makeFinishVideo(recorded(options))
  return (path, control) => finish(path, control).catch(fail)
}

export const makeLocalFinishSound = (options: VideoEngineOptions): FinishSound =>
  makeFinishSound(recorded(options))

const recorded = (options: VideoEngineOptions): VideoEngineOptions => ({
  ...options,
  binaries: { ...options.binaries, recordChild },
})

const fail = (error: unknown): never => {
  throw toVideoError(error)
}
