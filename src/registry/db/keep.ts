import { keptPictureId } from '../domain/picture-address.ts'
import type { Queryable } from '../../platform/db/client.ts'

/** One assignment of a partial update: undefined keeps what the column holds, an empty text or list clears it. */

export const keepText = (sql: Queryable, column: string, value: string | undefined) => sql`
  ${sql(column)} = case when ${value ?? null}::text is null then ${sql(column)}
    else nullif(${value ?? null}::text, '') end
`

/** As `keepText`, of a picture's address. For a picture in the store, the column beside keeps its id. */
export const keepPictureUrl = (
  sql: Queryable,
  [column, picture]: [column: string, picture: string],
  { url, publicUrl }: { url: string | undefined; publicUrl: string },
) => {
  const kept = url === undefined ? undefined : keptPictureId(url, publicUrl)
  return sql`
    ${keepText(sql, column, kept === undefined ? url : '')},
    ${sql(picture)} = case when ${url ?? null}::text is null then ${sql(picture)}
      else ${kept ?? null}::uuid end
  `
}

/** As `keepText`, of a name, which falls back to the id. */
export const keepName = (sql: Queryable, value: string | undefined) => sql`
  name = case when ${value ?? null}::text is null then name
    else coalesce(nullif(${value ?? null}::text, ''), id) end
`

export const keepTexts = (sql: Queryable, column: string, value: readonly string[] | undefined) =>
  sql`${sql(column)} = coalesce(${value ? [...value] : null}::text[], ${sql(column)})`

export const keepFlag = (sql: Queryable, column: string, value: boolean | undefined) =>
  sql`${sql(column)} = coalesce(${value ?? null}::boolean, ${sql(column)})`

export const keepNumber = (sql: Queryable, column: string, value: number | undefined) =>
  sql`${sql(column)} = coalesce(${value ?? null}::integer, ${sql(column)})`
