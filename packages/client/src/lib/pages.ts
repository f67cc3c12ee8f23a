import type { paths } from '../generated/openapi.ts'

type QueryOf<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Query } }
}
  ? NonNullable<Query>
  : never

/** Filter of a list. `limit` is the most items that are listed, all unless given; pages are read as items are taken. */
export type ListOf<Path extends keyof paths> = Omit<QueryOf<Path>, 'after' | 'before'>

const PAGE_MAX = 100

/** A page: what it asks for, and what it has. */
type Asked = { limit: number; cursor?: string }
type Page<Item> = { items: readonly Item[]; next: string | undefined }

/** Lists page by page, as the items are taken. */
export async function* readPages<Item>(
  limit: number | undefined,
  read: (asked: Asked) => Promise<Page<Item>>,
): AsyncGenerator<Item> {
  let left = limit ?? Infinity
  let cursor: string | undefined
  while (left > 0) {
    const asked = { limit: Math.min(left, PAGE_MAX), ...(cursor !== undefined && { cursor }) }
    const { items, next } = await read(asked)
    yield* items
    if (next === undefined) return
    left -= items.length
    cursor = next
  }
}

/** The cursor of a list whose pages have `next`. */
export const after = ({ limit, cursor }: Asked) => ({
  limit,
  ...(cursor !== undefined && { after: cursor }),
})
