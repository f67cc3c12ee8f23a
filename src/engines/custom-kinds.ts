import { withinDeadline, type Sql } from '../platform/db/client.ts'
import { listTemplates } from './db/template.ts'
import type { ImageKind } from '../tasks/domain/image/image-kind.ts'
import { makeCustomKind } from './domain/template/custom-kind.ts'

/** The kinds that templates make, as this process last read them. */
export interface CustomKinds {
  /** The same list until one of them has changed. */
  list(): readonly ImageKind[]
  /** Reads them again. */
  refresh(): Promise<void>
}

export const makeCustomKinds = (sql: Sql): CustomKinds => {
  let kinds: readonly ImageKind[] = []
  let known = '[]'
  return {
    list: () => kinds,
    async refresh() {
      const templates = await withinDeadline(sql, listTemplates(sql))
      const text = JSON.stringify(templates)
      if (text !== known) kinds = templates.map(makeCustomKind)
      known = text
    },
  }
}
