import { withinDeadline } from '../../platform/db/client.ts'
import type { Entries } from '../db/search/entries.ts'
import { textInLanguage } from '../domain/translations.ts'
import type { JsonResponse } from '../../platform/http/route.ts'
import { tagOfBytes } from '../../platform/http/serve/etag.ts'
import type { ListDeps } from './deps.ts'

/** Entries that a list has left for later and that one statement is asked for. */
const BATCH = 100

/** A list whose head has left already waits for a place longer than one that can still be rejected. */
const PATIENCE_MS = 30_000

interface ListResponse {
  entries: Entries
  /** Reads entries that the list has left for later, as far as one statement goes. */
  readEntries: (ids: readonly string[]) => Promise<Entries>
  /** The member that the list is, and the others; absent for a bare list. */
  member?: string
  others?: object
  headers?: Record<string, string>
  /** Languages of the reader, for entries that are nodes. */
  languages?: readonly string[]
}

/**
 * Responds with a list. It is written at once when its first statement has read all of it. Else further statements
 * follow as the client takes what was written, so that no more than a few megabytes of it are ever in memory.
 */
export const makeListResponse = (
  { sql, heavyReadSemaphore }: Pick<ListDeps, 'sql' | 'heavyReadSemaphore'>,
  { entries, readEntries, member, others, headers: given, languages = [] }: ListResponse,
): JsonResponse => {
  const { rest } = entries
  const shown = entries.texts.map((text) => textInLanguage(text, languages))
  const used = [...new Set(shown.flatMap(({ language }) => language ?? []))]
  const headers = { ...given, ...(used.length > 0 && { 'content-language': used.join(', ') }) }
  const [head, tail] =
    member === undefined ? ['[', ']'] : [`{"${member}":[`, `],${JSON.stringify(others).slice(1)}`]
  const first = head + shown.map(({ text }) => text).join(',')
  if (rest.length === 0) return { status: 200, text: first + tail, headers }
  const readMore = async (ids: readonly string[]) => {
    const read = () => withinDeadline(sql, readEntries(ids))
    const more = await heavyReadSemaphore.run(read, PATIENCE_MS)
    return { ...more, texts: more.texts.map((text) => textInLanguage(text, languages).text) }
  }
  const etag = tagOfBytes(first + JSON.stringify([rest, languages]) + tail)
  return {
    status: 200,
    text: first,
    more: writeRest(
      rest.map(({ id }) => id),
      readMore,
      tail,
    ),
    headers: { ...headers, etag },
  }
}

async function* writeRest(
  ids: readonly string[],
  readMore: ListResponse['readEntries'],
  tail: string,
): AsyncGenerator<string> {
  for (let left = ids; left.length > 0;) {
    const asked = left.slice(0, BATCH)
    const { texts, rest } = await readMore(asked)
    yield texts.map((text) => `,${text}`).join('')
    left = [...rest.map(({ id }) => id), ...left.slice(BATCH)]
  }
  yield tail
}
