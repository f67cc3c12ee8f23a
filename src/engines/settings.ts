import { Type, type Static, type TSchema } from 'typebox'

import type { PlatformConfig } from '../platform/settings/settings.ts'

import { IMAGE_KINDS, IMAGE_PREFIX, ImageTaskKind } from '../tasks/domain/image/image-kind.ts'
import { ExtendBody, TextToVideoBody } from '../tasks/domain/video/video-body.ts'
import { VIDEO_PREFIX } from '../tasks/domain/video/video-path.ts'
import { VideoTaskKind } from '../tasks/domain/video/video-task.ts'
import { readEngineItem, readEngineToken, type EngineItem } from './domain/cog/engine-item.ts'
import { MAX_DEPTH, readFleetItem, type FleetItem } from './domain/fleet-item.ts'
import { readUpstreamItem, splitKind } from './domain/upstream-item.ts'
import {
  constant,
  count,
  list,
  optionalText,
  splitList,
  text,
  visible,
  type WithLists,
} from '../platform/settings/schema.ts'

const upstreamUrl = (what: string, kind: string) =>
  list(
    `Address of the upstream of ${what}, which core workers call, and others of single kinds such as \`${kind}=https://upstream.example\`. \`|resubmit=2\` behind one sends what it has forgotten again so often, which it may charge for again; \`|prefix=/v1\` replaces the prefix of the routes there, and \`|errors=shown\` shows callers what it says of failures.`,
  )

const upstreamKey = (url: string, kind: string) =>
  visible(
    `Bearer token, or API key, at ${url}, and others of single kinds such as \`${kind}=key\`. Separated by commas.`,
  )

export const EngineSettings = Type.Object({
  MEDIA_SLOTS: count('Renderings at once in a media worker; one a core.', 2, 1, 256),
  VENDOR_IMAGE_URL: upstreamUrl('image tasks', 'upscale'),
  VENDOR_IMAGE_KEY: upstreamKey('VENDOR_IMAGE_URL', 'upscale'),
  VENDOR_VIDEO_URL: upstreamUrl('video tasks', 'extend'),
  VENDOR_VIDEO_KEY: upstreamKey('VENDOR_VIDEO_URL', 'extend'),
  COMFYUI_URLS: list(
    'Instances of ComfyUI that core workers call, such as `gpu1=http://10.0.0.5:8188`, whose name their tasks keep; and where others are read every five seconds, `dns:comfyui.internal:8188` or `file:/etc/kiln/instances`. `|depth=1` after one counts before COMFYUI_DEPTH, and `|errors=shown` shows callers what it says of failures.',
  ),
  COMFYUI_TOKEN: visible('Bearer token for a proxy before the instances of COMFYUI_URLS.'),
  COMFYUI_TEMPLATES: optionalText('Folder of the workflows that instances of ComfyUI run.'),
  COMFYUI_DEPTH: count(
    'Prompts on one instance at once: one runs, the others are ready.',
    2,
    1,
    MAX_DEPTH,
  ),
  COMFYUI_STALL_SECONDS: count(
    'Time without progress after which a prompt is interrupted, and an instance that goes on is left.',
    600,
    1,
    86_400,
  ),
  ENGINES_HTTP: list(
    'Engines that speak the HTTP API of cog, with the addresses of their instances: `enhance=http://10.0.0.7:5000 http://10.0.0.8:5000|depth=2`. Each is a kind of its own, on `/templates/enhance/tasks`. Options: `|depth=2` for tasks at one address at once, `|held` of one that cannot reach PUBLIC_URL, `|resubmit=never` of one to which nothing is sent twice, `|errors=shown` to show callers what it says of failures.',
  ),
  ENGINES_HTTP_TOKENS: list('Bearer tokens of these engines, such as `enhance=token`.'),
  FFMPEG_PATH: Type.Optional(
    text(
      'The ffmpeg to use, with an ffprobe beside it; without it those on PATH, else the packaged ones.',
    ),
  ),
})

/** Numbers of the engines that an operator has no reason to change. */
export const EngineConstants = Type.Object({
  /** Silence of an instance of ComfyUI after which its tasks go elsewhere: its supervisor needs 20 to 50 for a restart. */
  COMFYUI_LOST_SECONDS: constant(90, 1, 86_400),
  /** Time without a word of a prediction after which an engine is asked: one that works logs more often, or is asked seldom. */
  ENGINE_QUIET_SECONDS: constant(5, 1, 3600),
  /** Time in which the end of a prediction comes from an engine that has nothing to do: it may have been sent just before. */
  ENGINE_LATE_SECONDS: constant(10, 1, 3600),
  /**
   * Failures of an upstream, or of the instances of ComfyUI, in a row after which its tasks wait; 0: they never do. A task
   * fails at its third, so that even one task alone does not open it.
   */
  BREAKER_FAILURES: constant(5, 0, 10_000),
  /** Time until one task tries whether an engine behind an open breaker works again: it costs one attempt. */
  BREAKER_SECONDS: constant(10, 1, 3600),
  /** Renders 8 frames of 96×64 whatever is asked for, for tests. */
  VIDEO_TINY: Type.Boolean({ default: false }),
  /** Requests a second of one core worker to each upstream, which may ask for fewer by 429 and Retry-After. */
  VENDOR_RATE: constant(20, 1, 10_000),
  /** Requests of one core worker to one upstream at once, downloads included. */
  VENDOR_CONCURRENCY: constant(10, 1, 1000),
  /** Tasks that one core worker has at upstreams at once: they only submit and poll, so that a worker has time for them. */
  VENDOR_SLOTS: constant(50, 1, 1000),
})

export type EngineConfig = WithLists<
  Static<typeof EngineSettings> & Static<typeof EngineConstants>,
  'COMFYUI_URLS' | 'ENGINES_HTTP' | 'ENGINES_HTTP_TOKENS'
>

/** Kinds of each family that an upstream may have, and the routes here on which they are made. */
export const UPSTREAM_FAMILIES = {
  image: {
    engine: 'IMAGE_ENGINE',
    setting: 'VENDOR_IMAGE',
    kinds: ImageTaskKind.enum,
    prefix: IMAGE_PREFIX,
    routeOf: (kind: string): { path: string; body: TSchema } => IMAGE_KINDS[kind as ImageTaskKind],
  },
  video: {
    engine: 'VIDEO_ENGINE',
    setting: 'VENDOR_VIDEO',
    kinds: VideoTaskKind.enum,
    prefix: VIDEO_PREFIX,
    routeOf: (kind: string) => ({
      path: `${VIDEO_PREFIX}/${kind}`,
      body: kind === 'extend' ? ExtendBody : TextToVideoBody,
    }),
  },
} as const

export type UpstreamFamily = keyof typeof UPSTREAM_FAMILIES

/** Reads the upstreams that a core worker calls for a family of tasks: that of each kind with one of its own, and of all others. */
export const readUpstreams = (
  config: Pick<EngineConfig, `VENDOR_${'IMAGE' | 'VIDEO'}_${'URL' | 'KEY'}`>,
  family: UpstreamFamily,
) => {
  const { setting, kinds, prefix: here } = UPSTREAM_FAMILIES[family]
  const keys = splitList(config[`${setting}_KEY`]).map((key) => splitKind(key, kinds))
  const findKey = (kind?: string) => keys.find((key) => key.kind === kind)?.rest
  return splitList(config[`${setting}_URL`]).flatMap((text) => {
    const { item } = readUpstreamItem(text, kinds)
    if (!item) return []
    const { kind, prefix: there } = item
    const prefix = there === undefined ? undefined : { here, there }
    const key = findKey(kind) ?? findKey() ?? ''
    return [{ ...item, url: item.url, kind, prefix, key, setting: `${setting}_URL` as const }]
  })
}

/** Reads the instances of ComfyUI, and sources of them, that a core worker calls: none in a media worker. */
export const readFleetItems = (
  config: Pick<PlatformConfig, 'WORKER_ROLE'> & Pick<EngineConfig, 'COMFYUI_URLS'>,
): FleetItem[] =>
  config.WORKER_ROLE === 'media'
    ? []
    : config.COMFYUI_URLS.flatMap((text) => readFleetItem(text).item ?? [])

/** Reads the engines that a core worker calls by the HTTP API of cog, with their tokens. */
export const readEngines = (
  config: Pick<PlatformConfig, 'WORKER_ROLE'> &
    Pick<EngineConfig, 'ENGINES_HTTP' | 'ENGINES_HTTP_TOKENS'>,
): (EngineItem & { token: string })[] => {
  const tokens = new Map(
    config.ENGINES_HTTP_TOKENS.map(readEngineToken).filter((pair) => pair !== undefined),
  )
  return config.WORKER_ROLE === 'media'
    ? []
    : config.ENGINES_HTTP.flatMap((text) => {
        const { item } = readEngineItem(text)
        return item ? [{ ...item, token: tokens.get(item.name) ?? '' }] : []
      })
}
