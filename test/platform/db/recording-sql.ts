import type { Sql, Transaction } from '../../../src/platform/db/client.ts'

const ID = '6f0c2a7e-6a3e-4d43-9c1b-2b8f0d3c5a11'

/**
 * Stand-in for any argument and any value: an object with every member, a list of one, a text, a function that returns
 * the same. Code that asks for more throws.
 */
export const ANY: never = new Proxy(() => {}, {
  apply: () => ANY,
  get: (_target, name) => {
    if (name === Symbol.toPrimitive) return () => ID
    if (name === Symbol.iterator) return () => [ANY].values()
    if (typeof name === 'symbol' || ['then', 'raw', 'toJSON'].includes(name)) return undefined
    if (name === 'length') return 1
    const owner = name in String.prototype ? ID : name in Array.prototype ? [ANY] : undefined
    if (owner === undefined) return ANY
    const method = (owner as unknown as Record<string, (...values: unknown[]) => unknown>)[name]
    return method?.bind(owner)
  },
}) as never

/** Result of a statement: no rows or one, with `count`, its booleans, and columns by name. */
export interface RecordedResult {
  rows: 0 | 1
  count: 0 | 1
  flag: boolean
  columns?: Record<string, unknown>
}

export const RESPONSES: readonly RecordedResult[] = [
  { rows: 0, count: 0, flag: true },
  { rows: 1, count: 1, flag: true },
  { rows: 1, count: 1, flag: false },
  { rows: 1, count: 0, flag: true },
]

/** Values by the OID of a column's type. */
const VALUES: Record<number, unknown> = {
  20: '1',
  21: 1,
  23: 1,
  25: ID,
  701: 1,
  1082: new Date(0),
  1184: new Date(0),
  1700: '1',
  2950: ID,
}
const BOOLEAN = 16

/** Most statements of a function: more would be a loop that waits for another response. */
const MAX = 60

interface Described {
  string: string
  columns: { name: string; type: number }[] | null
}

interface Query {
  then(resolve: (value: never) => unknown, reject?: (error: unknown) => unknown): Promise<unknown>
  execute(): unknown
  describe(): unknown
}

/**
 * A handle that has PostgreSQL parse each statement and carry none out. It returns made-up rows of the columns that the
 * statement has, so that a function goes on to its next one. `received` is given the text of each that was understood.
 */
export const makeRecordingSql = (
  sql: Sql,
  received: Set<string>,
  { rows, count, flag, columns = {} }: RecordedResult,
): Sql & Transaction => {
  let asked = 0
  const result = ({ string, columns: described }: Described) => {
    received.add(string)
    const row = (described ?? []).map(({ name, type }) => [
      name,
      columns[name] ?? (type === BOOLEAN ? flag : (VALUES[type] ?? ANY)),
    ])
    return Object.assign(rows === 0 ? [] : [Object.fromEntries(row)], { count })
  }
  const listen = (query: Query): Query => {
    const then = query.then.bind(query)
    // oxlint-disable-next-line unicorn/no-thenable -- a query is one, and is sent when it is waited for
    query.then = async (resolve, reject) => {
      asked += 1
      if (asked > MAX) return reject?.(new Error('too many statements'))
      query.describe()
      return await then((described: Described) => resolve(result(described) as never), reject)
    }
    // It would be sent before it is waited for.
    query.execute = () => query
    return query
  }
  const recordingSql = new Proxy(sql, {
    apply: (_target, _self, [first, ...values]: [TemplateStringsArray, ...never[]]) => {
      const query = sql(first, ...values) as unknown as Query
      return 'raw' in Object(first) ? listen(query) : query
    },
    get: (_target, name) => {
      if (name === 'begin')
        return (...given: unknown[]) => (given.at(-1) as (sql: Sql) => unknown)(recordingSql)
      if (name === 'unsafe') return (text: string) => listen(sql.unsafe(text) as unknown as Query)
      return Reflect.get(sql, name) as unknown
    },
  }) as Sql & Transaction
  return recordingSql
}

/** The fixed texts of each template of SQL in a source, one after the other; blanks as one. */
export const listTemplates = (source: string): string[][] =>
  [...source.matchAll(/(?<!`)\bsql(?:<[^`]*?>)?`/g)].map(
    (found) => readTemplate(source, found.index + found[0].length).texts,
  )

const readTemplate = (source: string, start: number): { texts: string[]; end: number } => {
  const texts: string[] = []
  let at = start
  let from = at
  for (; charAt(source, at) !== '`'; at += 1)
    // An escape ends a text, because what it stands for is not what is written.
    if (source[at] === '\\') {
      texts.push(source.slice(from, at))
      from = at + 2
      at += 1
    } else if (source.startsWith('${', at)) {
      texts.push(source.slice(from, at))
      at = skipExpression(source, at + 2)
      from = at + 1
    }
  texts.push(source.slice(from, at))
  return { texts: texts.map(oneBlank), end: at }
}

const skipExpression = (source: string, start: number): number => {
  let depth = 1
  let at = start
  for (; ; at += 1) {
    const char = charAt(source, at)
    if (char === '`') at = readTemplate(source, at + 1).end
    else if (char === "'" || char === '"') at = skipText(source, at)
    else if (char === '{') depth += 1
    else if (char === '}' && --depth === 0) return at
  }
}

/** To the quote that ends a text. */
const skipText = (source: string, start: number): number => {
  let at = start + 1
  while (charAt(source, at) !== source[start]) at += source[at] === '\\' ? 2 : 1
  return at
}

const charAt = (source: string, at: number): string => {
  if (at >= source.length) throw new Error('a source ends within a template')
  return source.charAt(at)
}

export const oneBlank = (text: string): string => text.replaceAll(/\s+/g, ' ')

/** True when a statement has these texts, in this order. */
export const hasTexts = (statement: string, texts: readonly string[]): boolean => {
  let at = 0
  return texts.every((text) => {
    const found = statement.indexOf(text, at)
    at = found + text.length
    return found >= 0
  })
}
