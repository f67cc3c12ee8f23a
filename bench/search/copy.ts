import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import type { Sql } from '../../src/db/client.ts'

export type CopyValue = string | number | boolean | Date | readonly string[] | undefined

/** Puts rows into a table by COPY. */
export const copyRows = async (
  sql: Sql,
  target: string,
  rows: readonly (readonly CopyValue[])[],
): Promise<void> => {
  if (rows.length === 0) return
  const text = rows.map((row) => `${row.map(writeValue).join('\t')}\n`).join('')
  const copy = await sql.unsafe(`copy ${target} from stdin`).writable()
  await pipeline(Readable.from([text]), copy)
}

const writeValue = (value: CopyValue): string => {
  if (value === undefined) return String.raw`\N`
  if (value instanceof Date) return value.toISOString()
  if (typeof value === 'object') return escape(`{${value.map(quote).join(',')}}`)
  return typeof value === 'string' ? escape(value) : String(value)
}

const quote = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`

const escape = (text: string): string => text.replaceAll('\\', String.raw`\\`)
