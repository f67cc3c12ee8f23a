import type { EventEmitter } from 'node:events'

import type { CogHost } from '../../src/engines/cog/cog-host.ts'
import type { Instance } from '../../src/engines/comfyui/instance.ts'
import type { Host } from '../../src/engines/host.ts'
import type { UnusableFiles } from '../../src/engines/comfyui/templates.ts'
import type { ImageEngine } from '../../src/engines/image-engine/image-engine.ts'
import type { Outbound } from '../../src/platform/outbound/client.ts'
import type { Signer } from '../../src/platform/adapters/signing.ts'
import type { FindUpstream } from '../../src/engines/upstream/upstream.ts'
import type { FinishSound } from '../../packages/engines/src/finish-sound.ts'
import type { FinishVideo } from '../../packages/engines/src/finish-video.ts'
import type { VideoEngine } from '../../src/engines/video-engine/video-engine.ts'
import type { Notifier } from '../../src/platform/domain/notifier.ts'
import type { MediaLimits } from '../../src/tasks/domain/media-limits.ts'
import type { Template } from '../../src/engines/domain/template/template.ts'
import type { Breaker } from './breaker.ts'
import type { EndDependencies } from '../tasks/dependencies.ts'

export interface RenderDependencies extends EndDependencies {
  outbound: Outbound
  limits: MediaLimits
  /** Folder of this process for unfinished files. */
  scratchDir: string
  /** Attempts that PostgreSQL did not end, after which the task ends; 10 when absent. */
  maxAttempts?: number
  /** Absent: no engine is paused because it fails. */
  breaker?: Breaker
  /** Events named by the ids of rows that have changed. Absent: heartbeats are often enough to learn of an end. */
  changes?: EventEmitter | undefined
}

export interface VendorDependencies extends RenderDependencies {
  /** Upstreams of the families that have any. */
  upstreams: Partial<Record<'image' | 'video', FindUpstream>>
  signer: Signer
}

/** Machines that one engine has, as a worker knows them. */
export interface Hosts<On extends Host = Host> {
  /** Those that the settings name now, and others that placements still name. */
  instances: readonly On[]
  /** Silence of an instance after which its tasks go elsewhere, in milliseconds. */
  lostMs: number
  /** Time without progress after which a prompt is interrupted. */
  stallMs: number
  /** Notified when an instance may have room. */
  notifier: Notifier
  /** Placements that this worker follows. */
  followed?: Set<string>
  /** Silence of an instance after which it is away, in milliseconds. While all are, or take nothing, tasks are put back; absent: they are not. */
  awayMs?: number
  /** Time after which a task that waits goes back to its queue while others have placements that this worker does not follow. */
  yieldMs?: number
}

/** A fleet of ComfyUI as a worker knows it. */
export interface Fleet extends Hosts<Instance> {
  /** Templates of the service's own kinds, as the folder last had them. */
  templates: readonly Template[]
  /** Templates that are kinds of their own, as the folder last had them. */
  custom: readonly Template[]
  /** Files that the folder last had beside them. */
  unusable: UnusableFiles
  /** Time that a prompt waits where its models are loaded, rather than load them elsewhere, in milliseconds. */
  loadMs: number
}

/** Dependencies of renders by other machines. */
export interface HostDependencies extends RenderDependencies {
  /** Reads the source of an extension, and finishes what an instance has made. */
  videoEngine: Pick<VideoEngine, 'probeSource'>
  finishVideo: FinishVideo
  finishSound: FinishSound
}

/** Dependencies of renders by a fleet of ComfyUI. */
export interface ComfyDependencies extends HostDependencies {
  fleet: Fleet
}

/** An engine of ENGINES_HTTP as a worker knows it. */
export interface EngineHosts extends Hosts<CogHost> {
  name: string
  /** Predictions end with the responses to their requests. */
  isSynchronous: boolean
  /** False: what was sent once is never sent again. */
  resubmits: boolean
  /** Digest of what it takes and gives, as it was last published. */
  version: string
  /** Time without a word of a prediction after which an instance is asked, in milliseconds. */
  quietMs: number
  /** Time in which the end of a prediction comes from an instance that has nothing to do. */
  lateMs: number
}

/** Dependencies of renders by an engine of ENGINES_HTTP. */
export interface EngineDependencies extends HostDependencies {
  fleet: EngineHosts
  signer: Pick<Signer, 'signFile' | 'signPrediction'>
}

/** Dependencies of renders by this service's own engines. */
export interface LocalDependencies extends RenderDependencies {
  engine: ImageEngine
  videoEngine: VideoEngine
  /** VIDEO_TINY: 8 frames of 96×64, whatever a video task asks for. */
  tinyVideos: boolean
}
