import type { EventEmitter } from 'node:events'

import type { Instance } from '../src/adapters/comfyui/instance.ts'
import type { UnusableFiles } from '../src/adapters/comfyui/templates.ts'
import type { ImageEngine } from '../src/adapters/image-engine/image-engine.ts'
import type { Inspector } from '../src/adapters/inspector/inspector.ts'
import type { AttemptSlots } from '../src/adapters/outbound/attempt-slots.ts'
import type { Outbound } from '../src/adapters/outbound/client.ts'
import type { PostLimits } from '../src/adapters/outbound/post.ts'
import type { Signer } from '../src/adapters/signing.ts'
import type { FetchStars } from '../src/adapters/stars/stars.ts'
import type { Storage } from '../src/adapters/storage/storage.ts'
import type { Upstream } from '../src/adapters/upstream/upstream.ts'
import type { FinishVideo } from '../packages/engines/src/finish-video.ts'
import type { VideoEngine } from '../src/adapters/video-engine/video-engine.ts'
import type { Sql } from '../src/db/client.ts'
import type { NotifyChange } from '../src/db/shared/change-notification.ts'
import type { OutboxRow, OutboxStart } from '../src/db/shared/outbox.ts'
import type { AdmissionRules } from '../src/db/task/admission.ts'
import type { Notifier } from '../src/domain/shared/notifier.ts'
import type { DeliverySchedule } from '../src/domain/event/delivery-schedule.ts'
import type { Template } from '../src/domain/template/template.ts'
import type { MediaLimits } from '../src/domain/task/media-limits.ts'
import type { Log } from '../src/log.ts'
import type { Metrics } from '../src/process/metrics.ts'
import type { Tracing } from '../src/process/tracing.ts'
import type { BulkWork } from '../src/tasks/bulk-work.ts'
import type { Breaker } from './breaker.ts'
import type { FindLicenseId } from './read-license.ts'

/** Dependencies of the activities of every worker. */
export interface CommonDependencies {
  sql: Sql
  storage: Storage
  log: Log
  /** Absent: nothing is counted. */
  metrics?: Metrics | undefined
  /** Absent: nothing is traced. */
  tracing?: Tracing | undefined
  /** Notifies those who watch a task or version that it has changed. */
  notifyChange: NotifyChange
}

/** Dependencies of whatever may end a task. */
export interface EndDependencies extends CommonDependencies, AdmissionRules {
  /** Begins to dispatch a committed row of the outbox to Temporal. If that fails, the relay does it. */
  jobs: { dispatchNow(row: OutboxRow): void }
}

export interface CoreDependencies extends EndDependencies {
  /** Days that files stay after the end of their task. */
  retentionDays: number
}

/** Dependencies of batches and operations. Either function throws what its route would respond with. */
export interface BulkDependencies extends CoreDependencies, BulkWork {
  /** Reads again what requests go by, as an api has it. */
  readRules(): Promise<void>
  /** Waits until Temporal has what was begun to be dispatched, so that its pace is that of the work. */
  drain(): Promise<void>
  /** Milliseconds of pause for each millisecond of work. */
  pauseFactor: number
}

/** Dependencies of webhook deliveries. */
export interface DeliveryDependencies extends CommonDependencies {
  signer: Signer
  outbound: Outbound
  /** Slots that the attempts of this worker share. */
  attemptSlots: AttemptSlots
  webhookSecrets: { active(owner: string): Promise<string[]> }
  delivery: DeliveryRules
  /** From 0 up to 1. */
  random(): number
  now(): Date
}

/** Dependencies of first attempts. */
export interface FirstAttemptDependencies
  extends DeliveryDependencies, Pick<CoreDependencies, 'jobs'> {
  /** Notified when attempts may be due. */
  notifier: Notifier
  /** The row of the outbox that starts the further attempts of a task's events. */
  startDelivery(task: { taskId: string; kind: string; owner: string }): OutboxStart
  /** Makes those further attempts read the rows again. If that is lost, they do so later. */
  announceEvent(taskId: string): void
}

export interface DeliveryRules {
  schedule: DeliverySchedule
  /** Wait of an attempt when there are enough at once of its host, address or owner. */
  deferSeconds: number
  /** Limits of one attempt; absent: those of the outbound client. */
  limits?: PostLimits
}

/** Dependencies of the stars of repositories. */
export interface StarsDependencies extends CommonDependencies {
  /** Absent: nobody is asked (STARS). */
  stars?: { hosts: readonly string[]; fetch: FetchStars } | undefined
  /** From 0 up to 1. */
  random(): number
}

/** Dependencies of every render. */
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

/** Dependencies of renders by an upstream. */
export interface VendorDependencies extends RenderDependencies {
  /** Upstreams of the families that have one. */
  upstreams: Partial<Record<'image' | 'video', Upstream>>
  signer: Signer
}

/** A fleet of ComfyUI as a worker knows it. */
export interface Fleet {
  instances: readonly Instance[]
  /** Those of the service's own kinds, as the folder last had them. */
  templates: readonly Template[]
  /** Those that are kinds of their own, likewise. */
  custom: readonly Template[]
  /** Files that the folder last had beside them. */
  unusable: UnusableFiles
  /** COMFYUI_DEPTH: our prompts on one instance. */
  depth: number
  /** Silence of an instance after which its tasks go elsewhere, in milliseconds. */
  lostMs: number
  /** Time without progress after which a prompt is interrupted. */
  stallMs: number
  /** Names this process to the instances. */
  clientId: string
  /** Notified when an instance may have room. */
  notifier: Notifier
}

/** Dependencies of renders by a fleet of ComfyUI. */
export interface ComfyDependencies extends RenderDependencies {
  fleet: Fleet
  /** Reads the source of an extension, and finishes what an instance has made. */
  videoEngine: Pick<VideoEngine, 'probeSource'>
  finishVideo: FinishVideo
}

export interface MediaDependencies extends RenderDependencies {
  engine: ImageEngine
  inspector: Inspector
  findLicenseId: FindLicenseId
  videoEngine: VideoEngine
  /** VIDEO_TINY: 8 frames of 96×64, whatever a video task asks for. */
  tinyVideos: boolean
}
