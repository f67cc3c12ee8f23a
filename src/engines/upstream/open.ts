import type { OutboundOptions } from '../../platform/outbound/outbound.ts'
import { readUpstreams, UPSTREAM_FAMILIES } from '../settings.ts'
import type { EngineConfig, UpstreamFamily } from '../settings.ts'
import { makeUpstream, type FindUpstream, type Upstream } from './upstream.ts'

/** Upstreams that a core worker calls; `find` has the families with any. */
interface Upstreams {
  find: Partial<Record<UpstreamFamily, FindUpstream>>
  /** Routes here on which tasks are made, each with the upstream that gets them. */
  routes: readonly UpstreamRoute[]
  close(): void
}

export interface UpstreamRoute {
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
  const listRoutes = (family: UpstreamFamily, all: typeof images) => {
    const { kinds, pathOf } = UPSTREAM_FAMILIES[family]
    return kinds.flatMap((kind: string) => {
      const upstream = findOf(all, kind)
      return upstream ? [{ path: pathOf(kind), upstream }] : []
    })
  }
  return {
    find: {
      ...(images.length > 0 && { image: makeFind(images) }),
      ...(videos.length > 0 && { video: makeFind(videos) }),
    },
    routes: [...listRoutes('image', images), ...listRoutes('video', videos)],
    close() {
      for (const { upstream } of [...images, ...videos]) upstream.close()
    },
  }
}

const findOf = (all: readonly { kind: string | undefined; upstream: Upstream }[], kind: string) =>
  (all.find((one) => one.kind === kind) ?? all.find((one) => !one.kind))?.upstream
