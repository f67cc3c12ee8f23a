import type { TSchema } from 'typebox'

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
  /** Body of the interface. */
  body: TSchema
  upstream: Upstream
}

/** Opens the upstreams of the settings. A kind without one of its own goes to that of all others. */
export const openUpstreams = (
  config: EngineConfig,
  outbound: Omit<OutboundOptions, 'trusted'>,
): Upstreams => {
  const limits = { perSecond: config.VENDOR_RATE, atOnce: config.VENDOR_CONCURRENCY }
  const families = (['image', 'video'] as const).map((family) => {
    const all = readUpstreams(config, family).map(({ kind, ...options }) => ({
      kind,
      upstream: makeUpstream({ ...options, limits, outbound }),
    }))
    const findOf = (kind: string): Upstream | undefined =>
      (all.find((one) => one.kind === kind) ?? all.find((one) => !one.kind))?.upstream
    const find: FindUpstream = (kind) => {
      const upstream = findOf(kind)
      if (!upstream) throw new Error(`no upstream is set for tasks of ${kind}`)
      return upstream
    }
    const { kinds, routeOf } = UPSTREAM_FAMILIES[family]
    const routes = kinds.flatMap((kind: string) => {
      const upstream = findOf(kind)
      return upstream ? [{ ...routeOf(kind), upstream }] : []
    })
    return { all, find: all.length > 0 ? { [family]: find } : {}, routes }
  })
  return {
    find: Object.assign({}, ...families.map(({ find }) => find)) as Upstreams['find'],
    routes: families.flatMap(({ routes }) => routes),
    close() {
      for (const { upstream } of families.flatMap(({ all }) => all)) upstream.close()
    },
  }
}
