import type { JWK } from 'jose'

import { DELIVERY_SCHEDULE, type DeliverySchedule } from '../../events/domain/delivery-schedule.ts'
import type { CheckTiming } from '../../registry/domain/check-timing.ts'
import type { MediaLimits } from '../../tasks/domain/media-limits.ts'
import type { Quotas } from '../../tasks/domain/quota.ts'
import type { RenderTiming, VideoTiming } from '../../tasks/domain/render-timing.ts'
import { IMAGE_KINDS } from '../../tasks/domain/image/image-kind.ts'
import type { EngineName } from '../../tasks/domain/engine.ts'
import { customName } from '../../tasks/domain/custom-kind.ts'
import { videoSegment, type VideoTaskKind } from '../../tasks/domain/video/video-task.ts'
import type { Config } from './env.ts'

/**
 * The database by way of the pooler, where there is one, and past it. Prepared statements would stay behind in sessions
 * that a pooler has lent to others since.
 */
export const readAddresses = ({
  DATABASE_URL: url,
  DATABASE_DIRECT_URL: direct,
}: Config): { pooled: { url: string; prepare: boolean }; direct: string } => ({
  pooled: { url, prepare: direct === undefined },
  direct: direct ?? url,
})

/** Reads the factor of all quotas of requests; undefined when nobody is limited. */
export const readRateFactor = ({ RATE_LIMITS }: Config): number | undefined => {
  if (RATE_LIMITS === 'off') return undefined
  return RATE_LIMITS === 'on' ? 1 : Number(RATE_LIMITS)
}

/** Seconds between two heartbeats of a render, and of silence after which it is lost. */
export const readHeartbeats = ({
  RENDER_HEARTBEATS,
  HEARTBEAT_SECONDS,
}: Config): { beatSeconds: number; heartbeatSeconds: number } =>
  RENDER_HEARTBEATS === 'sparse'
    ? { beatSeconds: 10, heartbeatSeconds: 30 }
    : { beatSeconds: 1, heartbeatSeconds: HEARTBEAT_SECONDS }

/** Reads what goes with the start of a workflow, and how many video tasks hold a slot at once. */
export const readTimings = (
  config: Config,
): {
  timing: RenderTiming
  videoTiming: VideoTiming
  checkTiming: Partial<CheckTiming>
} => {
  const { heartbeatSeconds } = readHeartbeats(config)
  const offPeakSeconds = config.OFF_PEAK_DEADLINE_SECONDS
  return {
    timing: { heartbeatSeconds, deadlineSeconds: config.IMAGE_DEADLINE_SECONDS },
    videoTiming: {
      heartbeatSeconds,
      deadlineSeconds: config.VIDEO_DEADLINE_SECONDS,
      offPeakSeconds,
    },
    checkTiming: { heartbeatSeconds },
  }
}

interface Slots {
  slots: number
  anonymousSlots: number
}

/** Video tasks that hold a slot at once: of one owner, and of all callers without a credential, who are many but unknown. */
export const readSlots = ({ VIDEO_CONCURRENCY_PER_OWNER: slots }: Config): Slots => ({
  slots,
  anonymousSlots: 4 * slots,
})

/** An address without a credential has this part of what an owner has: nobody vouches for it. */
const ADDRESS_PART = 0.1

/** Reads what one account may have at once. */
export const readQuotas = ({
  OWNER_TASK_LIMIT: tasks,
  OWNER_BYTE_LIMIT: bytes,
  RESULT_RETENTION_DAYS: retentionDays,
}: Config): Quotas => ({
  owner: { tasks, bytes, retentionDays },
  address: {
    tasks: Math.ceil(tasks * ADDRESS_PART),
    bytes: Math.ceil(bytes * ADDRESS_PART),
    retentionDays,
  },
})

/** Reads when notifications are sent, and how long one waits whose host has enough requests at once. */
export const readDelivery = ({
  WEBHOOK_TIME_FACTOR: factor,
}: Config): { schedule: DeliverySchedule; deferSeconds: number } => ({
  schedule: {
    ...DELIVERY_SCHEDULE,
    steps: DELIVERY_SCHEDULE.steps.map((step) => step * factor),
    busySeconds: DELIVERY_SCHEDULE.busySeconds * factor,
    retryAfterSeconds: DELIVERY_SCHEDULE.retryAfterSeconds * factor,
    disableSeconds: DELIVERY_SCHEDULE.disableSeconds * factor,
  },
  deferSeconds: 5 * factor,
})

/**
 * Reads the limits of what a task may fetch: an image as the settings say; a watermark and a source video are bounded
 * for good.
 */
export const readMediaLimits = (config: Config): MediaLimits => {
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

/** Reads the upstream that a core worker calls for each family of tasks; absent where no address is set. */
export const readUpstreams = (config: Config) => {
  const limits = { perSecond: config.VENDOR_RATE, atOnce: config.VENDOR_CONCURRENCY }
  return {
    ...(config.VENDOR_IMAGE_URL !== '' && {
      image: { url: config.VENDOR_IMAGE_URL, key: config.VENDOR_IMAGE_KEY, limits },
    }),
    ...(config.VENDOR_VIDEO_URL !== '' && {
      video: { url: config.VENDOR_VIDEO_URL, key: config.VENDOR_VIDEO_KEY, limits },
    }),
  }
}

/** Makes the function that finds the engine of the tasks that are made from now on. All videos but extensions are text2video. */
export const makeEngineOf = ({ ENGINES, IMAGE_ENGINE, VIDEO_ENGINE }: Config) => {
  const own = Object.fromEntries(ENGINES.map((item) => item.split(':'))) as Record<
    string,
    EngineName
  >
  return (kind: string): EngineName => {
    if (customName(kind) !== undefined) return 'comfyui'
    if (Object.hasOwn(IMAGE_KINDS, kind)) return own[kind] ?? IMAGE_ENGINE
    return own[videoSegment(kind as VideoTaskKind)] ?? VIDEO_ENGINE
  }
}

/** Reads the instances of ComfyUI that a core worker calls: none in a media worker. */
export const readInstances = (config: Config): { name: string; url: string; token: string }[] =>
  config.WORKER_ROLE === 'media'
    ? []
    : config.COMFYUI_URLS.map((item) => {
        const at = item.indexOf('=')
        return { name: item.slice(0, at), url: item.slice(at + 1), token: config.COMFYUI_TOKEN }
      })

/** Whom an api signs tokens for on the embedded stack; undefined everywhere else. */
export const readDevelopment = (
  config: Config,
): { key: JWK; audience: string; users: string[]; admins: string[] } | undefined =>
  config.DEVELOPMENT_ISSUER_KEY === ''
    ? undefined
    : {
        key: JSON.parse(config.DEVELOPMENT_ISSUER_KEY) as JWK,
        audience: config.AUTH_AUDIENCE,
        users: config.DEVELOPMENT_USERS,
        admins: config.ADMIN_SUBJECTS,
      }

/** Reads what everybody may know of the settings. */
export const readService = (config: Config) => ({
  issuer: config.AUTH_ISSUER,
  ...(config.CONSOLE_CLIENT_ID !== '' && { client_id: config.CONSOLE_CLIENT_ID }),
  scopes: config.CONSOLE_SCOPES,
  auth_params: Object.fromEntries(new URLSearchParams(config.CONSOLE_AUTH_PARAMS)),
  ...(config.CONSOLE_INSTALL !== '' && { install: config.CONSOLE_INSTALL }),
  development: config.DEVELOPMENT_ISSUER_KEY !== '',
  video_auth: config.VIDEO_AUTH,
  limits: {
    image_bytes: config.IMAGE_MAX_BYTES,
    image_pixels: config.IMAGE_MAX_PIXELS,
    archive_bytes: config.ARCHIVE_MAX_BYTES,
    result_days: config.RESULT_RETENTION_DAYS,
    search_depth: config.SEARCH_MAX_DEPTH,
    video_slots: config.VIDEO_CONCURRENCY_PER_OWNER,
    open_tasks: config.OWNER_TASK_LIMIT,
    stored_bytes: config.OWNER_BYTE_LIMIT,
    ...(config.OWNER_CREDIT_LIMIT !== undefined && { credits: config.OWNER_CREDIT_LIMIT }),
  },
})

/** Origins that the console calls to sign in; the development issuer has none. */
export const readAuthOrigins = ({ CONSOLE_AUTH_ORIGINS: given, AUTH_ISSUER }: Config): string[] => {
  if (given.length > 0) return given
  return /^https?:/.test(AUTH_ISSUER) && URL.canParse(AUTH_ISSUER)
    ? [new URL(AUTH_ISSUER).origin]
    : []
}

/** Makes the function that returns the address of a workflow in the Temporal UI; undefined without TEMPORAL_UI_URL. */
export const makeWorkflowUrl =
  ({ TEMPORAL_UI_URL: url, TEMPORAL_NAMESPACE: namespace }: Config) =>
  (id: string): string | undefined =>
    url === ''
      ? undefined
      : `${url.replace(/\/+$/, '')}/namespaces/${encodeURIComponent(namespace)}/workflows/${encodeURIComponent(id)}`
