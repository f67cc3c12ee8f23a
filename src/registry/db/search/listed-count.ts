import { makeRecent } from '../../../platform/domain/recent.ts'
import type { Queryable, Transaction } from '../../../platform/db/client.ts'

/** Kinds of counts: listed nodes, and the versions of listed nodes that are not Deleted. */
type CountedKind = 'node' | 'version'

const SLOTS = 16

export interface CountChange {
  /** Listed nodes more, or fewer. */
  nodes?: number
  versions?: number
}

/**
 * Records that lists and searches may find something else. It is the last statement of a transaction, because it holds
 * a slot until the commit. A backend uses one slot of each kind, nodes before versions.
 */
export const recordListChange = async (
  sql: Transaction,
  { nodes = 0, versions = 0 }: CountChange = {},
): Promise<void> => {
  await sql`
    update listed_count set n = n + ${nodes}, changes = changes + 1
    where kind = 'node' and slot = pg_backend_pid() % ${SLOTS}
  `
  await sql`
    update listed_count set n = n + ${versions}, changes = changes + 1
    where kind = 'version' and slot = pg_backend_pid() % ${SLOTS}
  `
}

interface Listed {
  /** Number of listed ones. */
  n: number
  /** Grows whenever a filter may find something else; the sum of all slots, as text. */
  changes: string
}

export const getListed = async (sql: Queryable, kind: CountedKind): Promise<Listed> => {
  const [row] = await sql<Listed[]>`
    select sum(n)::float8 as n, sum(changes)::text as changes from listed_count where kind = ${kind}
  `
  if (!row) throw new Error('an aggregate without a row')
  return row
}

/** The change number, for a statement that counts: both are of one snapshot. */
export const changesOf = (sql: Queryable, kind: CountedKind) =>
  sql`(select sum(changes)::text from listed_count where kind = ${kind})`

/** Counts as they were at a change number. */
export interface Counted<Counts> {
  changes: string
  /** Which transactions it knows, where it can be brought up to date. */
  snapshot?: string
  counts: Counts
}

/** Keeps what was counted or listed in memory until something changes. */
export interface CountCache {
  get: Keep
  /** Keeps ids, a thousand at a time. */
  getBlock: Keep
  texts: NodeTexts
  /** Facts that pages of nodes were planned with, by their query. */
  plans: ReturnType<typeof makeRecent<PlannedWith>>
}

/** Counts for a page, and the change number before. */
export interface PlannedWith {
  changes: string
  listed: number
  /** By class of relevance. */
  counts: Partial<Record<number, number>>
}

type Keep = <Counts>(
  key: string,
  changes: string,
  /** Receives what was counted before, unless that is long ago. */
  count: (before?: Counted<Counts>) => Promise<Counted<Counts>>,
) => Promise<Counts>

/** `node_change` reaches back much farther. A database that was restored beside a living api is counted again in this time. */
const BEFORE_MS = 3_600_000

/** A search has up to four; a thousand filters of 200 characters are about a megabyte. */
const ENTRIES = 4_000
/** Some 15 MB. */
const BLOCKS = 200

/** Makes the memory of one process. Callers that ask for the same at once wait for one query. */
export const makeCountCache = (): CountCache => ({
  get: makeKeep(ENTRIES),
  getBlock: makeKeep(BLOCKS),
  texts: makeNodeTexts(),
  plans: makeRecent(ENTRIES),
})

interface Kept {
  changes: string
  counted: Promise<Counted<unknown>>
  /** When it was counted from the beginning, in milliseconds. */
  since: number
}

const makeKeep = (entries: number): Keep => {
  const kept = makeRecent<Kept>(entries)
  return async <Counts>(
    key: string,
    changes: string,
    count: (before?: Counted<Counts>) => Promise<Counted<Counts>>,
  ): Promise<Counts> => {
    const found = kept.find(key)
    if (found?.changes === changes) return ((await found.counted) as Counted<Counts>).counts
    const isRecent = found && Date.now() - found.since < BEFORE_MS
    const before = isRecent ? found.counted.catch(() => undefined) : Promise.resolve(undefined)
    const counted = before.then((before) => count(before as Counted<Counts> | undefined))
    const entry = { changes, counted, since: isRecent ? found.since : Date.now() }
    kept.keep(key, entry)
    try {
      const made = await counted
      entry.changes = made.changes
      return made.counts
    } catch (error) {
      kept.forget(key, entry)
      throw error
    }
  }
}

/** Longer texts are read each time. */
const LONGEST_TEXT = 16_384
/** Some 64 MB at most, some 8 MB with usual texts. */
const TEXTS = 4_000

/** Keeps the JSON of nodes in memory, each with the revision that it shows. */
export interface NodeTexts {
  /** Returns the JSON of a node at a revision; undefined when it is not in memory. */
  find(node: { id: string; revision: string }): string | undefined
  keep(node: { id: string; revision: string; text: string | null }): void
}

/** Makes the memory of one process. Callers have just read the revision, so a text is never older than it. */
const makeNodeTexts = (): NodeTexts => {
  const kept = makeRecent<{ revision: string; text: string }>(TEXTS)
  return {
    find: ({ id, revision }) => {
      const found = kept.find(id)
      return found?.revision === revision ? found.text : undefined
    },
    keep: ({ id, revision, text }) => {
      if (text !== null && text.length <= LONGEST_TEXT) kept.keep(id, { revision, text })
    },
  }
}
