import { randomUUID } from 'node:crypto'

import type { Sql } from '../platform/db/client.ts'
import { OperatorError } from '../platform/process/operator-error.ts'
import type { Storage } from '../platform/storage/storage.ts'
import { listArchiveFiles } from '../registry/db/archive.ts'
import { listTaskFiles, type KeptFiles } from '../tasks/db/kept-file.ts'
import { counted } from '../platform/domain/counted.ts'

/** Rows that are read at once, and looked up in the store side by side. */
const PAGE = 200
const SHOWN = 3
const FIRST = '00000000-0000-0000-0000-000000000000'

/**
 * Looks whether the store has the files that rows name: of all rows, or of the first ones and of as many from an id that
 * is drawn. Returns what it found; throws an OperatorError that names some of the missing ones.
 */
export const checkKeptFiles = async (
  sql: Sql,
  storage: Storage,
  isWhole: boolean,
): Promise<string> => {
  const looked = new Set<string>()
  const missing: string[] = []
  const look = async (rows: KeptFiles[]): Promise<void> => {
    const keys = rows.flatMap((row) => row.keys).filter((key) => !looked.has(key))
    await Promise.all(
      keys.map(async (key) => {
        looked.add(key)
        if (!(await storage.stat(key))) missing.push(key)
      }),
    )
  }
  for (const list of [listTaskFiles, listArchiveFiles]) {
    if (!isWhole) await look(await list(sql, { after: randomUUID(), limit: PAGE }))
    for (let after: string | undefined = FIRST; after !== undefined;) {
      const rows: KeptFiles[] = await list(sql, { after, limit: PAGE })
      await look(rows)
      after = isWhole ? rows.at(-1)?.id : undefined
    }
  }
  const found = `${counted(looked.size, 'file that rows name', 'files that rows name')}${isWhole ? '' : ', a sample,'}`
  if (missing.length === 0) return `${found} ${looked.size === 1 ? 'is' : 'are'} in the store`
  throw new OperatorError(
    `the store lacks ${missing.length} of ${found}, such as ${missing.toSorted().slice(0, SHOWN).join(', ')}: copy the files after the database, and all of them`,
  )
}
