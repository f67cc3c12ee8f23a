import { Type, type Static } from 'typebox'

import type { PlatformConfig } from '../platform/settings/settings.ts'
import type { AdmissionRules } from './db/admission.ts'
import { customName } from './domain/custom-kind.ts'
import type { EngineName } from './domain/engine.ts'
import { IMAGE_KINDS } from './domain/image/image-kind.ts'
import type { MediaLimits } from './domain/media-limits.ts'
import type { Quotas } from './domain/quota.ts'
import type { RenderTiming, VideoTiming } from './domain/render-timing.ts'
import { videoSegment, type VideoTaskKind } from './domain/video/video-task.ts'
import { makeStartOf } from './temporal/task.ts'

import { ENGINE_NAMES } from './domain/engine.ts'
import {
  bytes,
  choice,
  constant,
  count,
  list,
  type WithLists,
} from '../platform/settings/schema.ts'

const engine = (what: string) =>
  choice(
    [...ENGINE_NAMES],
    'local',
    `Who renders ${what} that are made from now on; read by the api.`,
  )

export const TaskSettings = Type.Object({
  OWNER_TASK_LIMIT: count(
    'Open tasks of an owner. An address without a credential has a tenth.',
    10_000,
    1,
  ),
  OWNER_BYTE_LIMIT: bytes(
    'Bytes of files and payloads kept for an owner. An address without a credential has a tenth.',
    100 * 2 ** 30,
  ),
  RENDER_HEARTBEATS: choice(
    ['frequent', 'sparse'],
    'frequent',
    'How often a render shows that it lives: each second, and it is lost after 5; or each 10 seconds, and it is lost after 30, for Temporal Cloud, which bills each.',
  ),
  IMAGE_DEADLINE_SECONDS: count('Time from IN_PROGRESS until a task fails.', 1800, 1, 86_400),
  IMAGE_ENGINE: engine('image tasks'),
  VIDEO_ENGINE: engine('video tasks'),
  ENGINES: list(
    'Engines of single kinds in place of these two, such as `upscale:comfyui,text2video:http:animate`, whose last word ENGINES_HTTP names.',
  ),
  RESULT_RETENTION_DAYS: count('Days that files stay after the end of their task.', 30, 1, 36_500),
  VIDEO_AUTH: choice(
    ['optional', 'required'],
    'optional',
    'Whether video routes need a credential.',
  ),
  VIDEO_EXTEND_SOURCE: choice(
    ['both', 'any'],
    'both',
    'Whether an extension needs `video_creation_id` and `video_url`, or any of them.',
  ),
  VIDEO_CONCURRENCY_PER_OWNER: count(
    'Video tasks of an owner that render at once. All callers without a credential have four times as many.',
    5,
    1,
    10_000,
  ),
  OWNER_CREDIT_LIMIT: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: 1_000_000_000,
      description:
        'Most credits of an owner or of an address without a credential, charges minus refunds.',
    }),
  ),
  VIDEO_DEADLINE_SECONDS: count('Time from processing until a task fails.', 1200, 1, 86_400),
})

/** Numbers of tasks that an operator has no reason to change. */
export const TaskConstants = Type.Object({
  /** Largest image in bytes, decoded: what the interface promises, and what the largest body of a request is made of. */
  IMAGE_MAX_BYTES: constant(50_000_000, 1),
  /** Pictures are decoded whole: so many pixels take up to 2 GB of a media worker. */
  IMAGE_MAX_PIXELS: constant(100_000_000, 1),
  /** The largest image, 50 MB, within this time needs 13 Mbit/s. */
  IMAGE_URL_TIMEOUT_SECONDS: constant(30, 1, 3600),
  /** A longer chain is mostly a circle. */
  IMAGE_URL_REDIRECTS: constant(5, 0, 20),
  /** From the creation of an off-peak task until it fails: the two days that callers are promised. */
  OFF_PEAK_DEADLINE_SECONDS: constant(172_800, 1, 2_592_000),
  /**
   * Silence after which a render counts as lost. A render beats each second, and beside two endless loops a core none was
   * ever late by five.
   */
  HEARTBEAT_SECONDS: constant(5, 1, 600),
  /**
   * Pause of a batch or operation after each item, as a factor of the time that the item took: with 1 it takes half of what
   * it could, and less where PostgreSQL or Temporal has much to do.
   */
  BULK_PAUSE_FACTOR: Type.Number({ minimum: 0, maximum: 100, default: 1 }),
})

export type TaskConfig = WithLists<
  Static<typeof TaskSettings> & Static<typeof TaskConstants>,
  'ENGINES'
>

/** Seconds between two heartbeats of a render, and of silence after which it is lost. */
export const readHeartbeats = ({
  RENDER_HEARTBEATS,
  HEARTBEAT_SECONDS,
}: TaskConfig): { beatSeconds: number; heartbeatSeconds: number } =>
  RENDER_HEARTBEATS === 'sparse'
    ? { beatSeconds: 10, heartbeatSeconds: 30 }
    : { beatSeconds: 1, heartbeatSeconds: HEARTBEAT_SECONDS }

/** Reads what goes with the start of a render. */
const readTimings = (config: TaskConfig): { timing: RenderTiming; videoTiming: VideoTiming } => {
  const { heartbeatSeconds } = readHeartbeats(config)
  return {
    timing: { heartbeatSeconds, deadlineSeconds: config.IMAGE_DEADLINE_SECONDS },
    videoTiming: {
      heartbeatSeconds,
      deadlineSeconds: config.VIDEO_DEADLINE_SECONDS,
      offPeakSeconds: config.OFF_PEAK_DEADLINE_SECONDS,
    },
  }
}

interface Slots {
  slots: number
  anonymousSlots: number
}

/** Video tasks that hold a slot at once: of one owner, and of all callers without a credential, who are many but unknown. */
export const readSlots = ({ VIDEO_CONCURRENCY_PER_OWNER: slots }: TaskConfig): Slots => ({
  slots,
  anonymousSlots: 4 * slots,
})

/** Reads the rules by which tasks are admitted. */
export const readAdmission = (config: TaskConfig & PlatformConfig): AdmissionRules => ({
  ...readSlots(config),
  startOf: makeStartOf({ taskQueue: config.TASK_QUEUE, ...readTimings(config) }),
})

/** An address without a credential has this part of what an owner has: nobody vouches for it. */
const ADDRESS_PART = 0.1

/** Reads what one account may have at once. */
export const readQuotas = ({
  OWNER_TASK_LIMIT: tasks,
  OWNER_BYTE_LIMIT: bytes,
  RESULT_RETENTION_DAYS: retentionDays,
}: TaskConfig): Quotas => ({
  owner: { tasks, bytes, retentionDays },
  address: {
    tasks: Math.ceil(tasks * ADDRESS_PART),
    bytes: Math.ceil(bytes * ADDRESS_PART),
    retentionDays,
  },
})

/**
 * Reads the limits of what a task may fetch: an image as the settings say; a watermark and a source video are bounded
 * for good.
 */
export const readMediaLimits = (config: TaskConfig): MediaLimits => {
  const maxRedirects = config.IMAGE_URL_REDIRECTS
  return {
    maxPixels: config.IMAGE_MAX_PIXELS,
    image: {
      maxBytes: config.IMAGE_MAX_BYTES,
      timeoutMs: config.IMAGE_URL_TIMEOUT_SECONDS * 1000,
      maxRedirects,
    },
    watermark: { maxBytes: 8 * 2 ** 20, timeoutMs: 15_000, maxRedirects },
    video: { maxBytes: 512 * 2 ** 20, timeoutMs: 300_000, maxRedirects },
  }
}

/** Makes the function that finds the engine of the tasks that are made from now on. All videos but extensions are text2video. */
export const makeEngineOf = ({ ENGINES, IMAGE_ENGINE, VIDEO_ENGINE }: TaskConfig) => {
  const own = Object.fromEntries(
    ENGINES.map((item) => {
      const [kind = '', ...engine] = item.split(':')
      return [kind, engine.at(-1) ?? '']
    }),
  ) as Record<string, EngineName>
  return (kind: string): EngineName => {
    if (customName(kind) !== undefined) return 'comfyui'
    if (Object.hasOwn(IMAGE_KINDS, kind)) return own[kind] ?? IMAGE_ENGINE
    return own[videoSegment(kind as VideoTaskKind)] ?? VIDEO_ENGINE
  }
}
