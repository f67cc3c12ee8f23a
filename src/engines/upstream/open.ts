import type { OutboundOptions } from '../../platform/outbound/outbound.ts'
import { creationPath } from '../../tasks/domain/creation-path.ts'
import {
  readUpstreams,
  UPSTREAM_FAMILIES,
  type EngineConfig,
  type UpstreamFamily,
} from '../settings.ts'
import { makeUpstream, type FindUpstream, type Upstream } from './upstream.ts'

/** Upstreams that a core worker calls; `find` has the families with any. */
interface Upstreams {
  find: Partial<Record<UpstreamFamily, FindUpstream>>
  /** Routes on which tasks are made, each with the upstream that gets them. */
  routes: readonly UpstreamRoute[]
  close(): void
}

export interface UpstreamRoute {
  /** Path here. */
  path: string
  upstream: Upstream
}

/** Opens the upstreams of the settings. A kind without one of its own goes to that of all others. */
export const openUpstreams = (
  config: EngineConfig,
  outbound: Omit<OutboundOptions, 'trusted'>,
): Upstreams => {
  const limits = { perSecond: config.VENDOR_RATE, atOnce: config.VENDOR_CONCURRENCY }
  const open = (family: UpstreamFamily) =>
    readUpstreams(config, family).map(({ kind, ...options }) => ({
      kind,
      upstream: makeUpstream({ ...options, limits, outbound }),
    }))
  const [images, videos] = [open('image'), open('video')]
  const makeFind =
    (all: typeof images): FindUpstream =>
    (kind) => {
      const upstream = findOf(all, kind)
      if (!upstream) throw new Error(`no upstream is set for tasks of ${kind}`)
      return upstream
    }
  const findOf = (all: typeof images, kind: string) =>
    (all.find((one) => one.kind === kind) ?? all.find((one) => !one.kind))?.upstream
  const listRoutes = (all: typeof images, kinds: readonly string[]) =>
    kinds.flatMap((kind) => {
      const upstream = findOf(all, kind)
      return upstream ? [{ path: creationPath(kind), upstream }] : []
    })
  return {
    find: {
      ...(images.length > 0 && { image: makeFind(images) }),
      ...(videos.length > 0 && { video: makeFind(videos) }),
    },
    routes: [
      ...listRoutes(images, UPSTREAM_FAMILIES.image.kinds),
      ...listRoutes(videos, UPSTREAM_FAMILIES.video.kinds),
    ],
    close() {
      for (const { upstream } of [...images, ...videos]) upstream.close()
    },
  }
}
