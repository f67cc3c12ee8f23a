import type { Fragment, Queryable } from '../client.ts'

/**
 * Entries of a list in its order. A list has as many as were asked for, but the texts of one statement have a bound: an
 * entry may hold a megabyte, and a page a thousand entries.
 */
export interface Entries {
  /** Of all. */
  ids: string[]
  /** JSON of the first ones: of all unless they are large, and of one at least. */
  texts: string[]
  /** Those after them, whose JSON is for further statements. The revision differs whenever the JSON does. */
  rest: { id: string; revision: string }[]
}

export interface EntryRow {
  id: string
  revision: string
  /** null past the bound. */
  text: string | null
}

export const toEntries = (rows: readonly EntryRow[]): Entries => {
  const texts = rows.flatMap(({ text }) => text ?? [])
  return { ids: rows.map(({ id }) => id), texts, rest: rows.slice(texts.length) }
}

/** Most bytes that the long members of one statement's entries take as they are stored. */
const ENTRIES_BYTES = 2 * 2 ** 20

/**
 * The condition that an entry is within the bound, of a query that says its order in `window listed`.
 * @param bytes of the entry
 */
export const isWithin = (sql: Queryable, bytes: Fragment) => sql`
  (sum(${bytes}) over listed <= ${ENTRIES_BYTES} or row_number() over listed = 1)
`
