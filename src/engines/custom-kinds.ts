import { Type } from 'typebox'

import { withinDeadline, type Sql } from '../platform/db/client.ts'
import type { ImageKind } from '../tasks/domain/image/image-kind.ts'
import type { FurtherMembers } from '../platform/domain/schema-fields.ts'
import { listAwaitedEngines } from './db/fleet.ts'
import { listTemplates } from './db/template.ts'
import { listUpstreamBodies, type UpstreamBody } from './db/upstream-body.ts'
import { makeCustomKind } from './domain/template/custom-kind.ts'

/** The kinds that templates make, and what upstreams take beside the interface, as this process last read them. */
export interface CustomKinds {
  /** The same list until one of them has changed. */
  list(): readonly ImageKind[]
  /** True for an engine that is set up and has not been reached: its template is still to come. */
  isAwaited(name: string): boolean
  /** The same object for a path until an upstream takes other members. */
  upstreamMembers(path: string): FurtherMembers | undefined
  /** Reads them again. */
  refresh(): Promise<void>
}

export const makeCustomKinds = (sql: Sql): CustomKinds => {
  let kinds: readonly ImageKind[] = []
  let members: ReadonlyMap<string, FurtherMembers> = new Map()
  let known = '[[],[]]'
  let awaited: readonly string[] = []
  return {
    list: () => kinds,
    isAwaited: (name) => awaited.includes(name),
    upstreamMembers: (path) => members.get(path),
    async refresh() {
      const reads = [listTemplates(sql), listUpstreamBodies(sql), listAwaitedEngines(sql)] as const
      const [templates, bodies, engines] = await withinDeadline(sql, Promise.all(reads))
      awaited = engines.map(({ engine }) => engine)
      const text = JSON.stringify([templates, bodies])
      if (text === known) return
      kinds = templates.map(makeCustomKind)
      members = new Map(bodies.map((body) => [body.path, toSchemas(body)]))
      known = text
    },
  }
}

const toSchemas = ({ members }: UpstreamBody): FurtherMembers =>
  Object.fromEntries(
    Object.entries(members).map(([name, rule]) => [name, Type.Optional(Type.Unsafe(rule))]),
  )
