import { Type } from 'typebox'

import { withinDeadline, type Sql } from '../platform/db/client.ts'
import type { ImageKind } from '../tasks/domain/image/image-kind.ts'
import type { FurtherMembers } from '../platform/domain/schema-fields.ts'
import { listTemplates } from './db/template.ts'
import { listUpstreamBodies, type UpstreamBody } from './db/upstream-body.ts'
import { makeCustomKind } from './domain/template/custom-kind.ts'

/** The kinds that templates make, and what upstreams take beside the interface, as this process last read them. */
export interface CustomKinds {
  /** The same list until one of them has changed. */
  list(): readonly ImageKind[]
  /** The same object for a path until an upstream takes other members. */
  upstreamMembers(path: string): FurtherMembers | undefined
  /** Reads them again. */
  refresh(): Promise<void>
}

export const makeCustomKinds = (sql: Sql): CustomKinds => {
  let kinds: readonly ImageKind[] = []
  let members: ReadonlyMap<string, FurtherMembers> = new Map()
  let known = { templates: '[]', bodies: '[]' }
  return {
    list: () => kinds,
    upstreamMembers: (path) => members.get(path),
    async refresh() {
      const [templates, found] = await Promise.all([
        withinDeadline(sql, listTemplates(sql)),
        withinDeadline(sql, listUpstreamBodies(sql)),
      ])
      const now = { templates: JSON.stringify(templates), bodies: JSON.stringify(found) }
      if (now.templates !== known.templates) kinds = templates.map(makeCustomKind)
      if (now.bodies !== known.bodies) members = new Map(found.flatMap(readMembers))
      known = now
    },
  }
}

const readMembers = ({ path, members }: UpstreamBody): [string, FurtherMembers][] => {
  const schemas = Object.entries(members).map(([name, member]) => [
    name,
    Type.Optional(Type.Unsafe(member)),
  ])
  return schemas.length === 0 ? [] : [[path, Object.fromEntries(schemas) as FurtherMembers]]
}
