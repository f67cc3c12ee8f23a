import { makeRecent } from '../../domain/shared/recent.ts'
import type { EntryRow } from './entries.ts'

/** Longer texts are read each time. */
const LONGEST = 16_384
/** Some 64 MB at most, some 8 MB with usual texts. */
const ENTRIES = 4_000

/** Keeps the JSON of nodes in memory, each with the revision that it shows. */
export interface NodeTexts {
  /** The JSON of a node at a revision; undefined when it is not in memory. */
  find(node: { id: string; revision: string }): string | undefined
  keep(node: EntryRow): void
}

/** Makes the memory of one process. Whoever asks has just read the revision, so what is answered is never old. */
export const makeNodeTexts = (): NodeTexts => {
  const kept = makeRecent<{ revision: string; text: string }>(ENTRIES)
  return {
    find: ({ id, revision }) => {
      const found = kept.find(id)
      return found?.revision === revision ? found.text : undefined
    },
    keep: ({ id, revision, text }) => {
      if (text !== null && text.length <= LONGEST) kept.keep(id, { revision, text })
    },
  }
}
