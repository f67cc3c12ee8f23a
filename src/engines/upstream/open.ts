import type { OutboundOptions } from '../../platform/outbound/outbound.ts'
import { readUpstreams, type EngineConfig, type UpstreamFamily } from '../settings.ts'
import { makeUpstream, type FindUpstream } from './upstream.ts'

/** Upstreams that a core worker calls; `find` has the families with any. */
interface Upstreams {
  find: Partial<Record<UpstreamFamily, FindUpstream>>
  close(): void
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
      const found = all.find((one) => one.kind === kind) ?? all.find((one) => !one.kind)
      if (!found) throw new Error(`no upstream is set for tasks of ${kind}`)
      return found.upstream
    }
  return {
    find: {
      ...(images.length > 0 && { image: makeFind(images) }),
      ...(videos.length > 0 && { video: makeFind(videos) }),
    },
    close() {
      for (const { upstream } of [...images, ...videos]) upstream.close()
    },
  }
}
