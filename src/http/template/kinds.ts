import { withinDeadline, type Sql } from '../../db/client.ts'
import { listTemplates } from '../../db/task/template.ts'
import type { ImageKind } from '../../domain/image-task/image-kind.ts'
import { makeCustomKind } from '../../domain/template/custom-kind.ts'

/** The kinds that templates make, as this process last read them. */
export interface CustomKinds {
  /** The same list until one of them has changed; a kind is the same until it has. */
  list(): readonly ImageKind[]
  /** Reads them again. */
  refresh(): Promise<void>
}

export const makeCustomKinds = (sql: Sql): CustomKinds => {
  let kinds: readonly ImageKind[] = []
  let known = new Map<string, ImageKind>()
  return {
    list: () => kinds,
    async refresh() {
      const read = new Map(
        (await withinDeadline(sql, listTemplates(sql))).map((template) => {
          const text = JSON.stringify(template)
          return [text, known.get(text) ?? makeCustomKind(template)]
        }),
      )
      if (read.size === known.size && [...read.keys()].every((text) => known.has(text))) return
      known = read
      kinds = [...read.values()]
    },
  }
}
