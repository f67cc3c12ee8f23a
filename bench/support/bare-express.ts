import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'

import express from 'express'
import postgres from 'postgres'

import { ARRAY_TYPES } from '../../src/platform/db/array-types.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import { POOL } from '../search/measure.ts'
import type { Fresh, Recorded, Statement } from '../search/statements.ts'
import { median } from './results.ts'

/** `node … bare-express.ts <database>` */
const [, , url = ''] = process.argv
const bare = postgres(url, { max: POOL, fetch_types: false, types: ARRAY_TYPES })

const send = async (sql: Pick<Sql, 'unsafe' | 'typed'>, { text, values, types }: Statement) => {
  const typed = values.map((value, at) => sql.typed(value as string, types[at] ?? 0))
  return await sql.unsafe(text, typed, { prepare: true })
}

/** Another value in which every text that is to be fresh is another one. */
const renew = (value: unknown, swaps: readonly [string, string][]): unknown => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (!swaps.some(([old]) => text.includes(old))) return value
  const renewed = swaps.reduce((text, [old, fresh]) => text.replaceAll(old, fresh), text)
  return typeof value === 'string' ? renewed : (JSON.parse(renewed) as unknown)
}

let created = 0
const drawSwaps = ({ id, owner, owners }: Fresh): [string, string][] => [
  [id, randomUUID()],
  [owner, owners[created++ % owners.length] ?? ''],
]

const recordings = new Map<string, Recorded>()
let times: number[] = []
const app = express()
app.use(express.json({ limit: '1gb' }))
app.post('/recorded', ({ body }, response) => {
  const { key, ...recorded } = body as Recorded & { key: string }
  recordings.set(key, recorded)
  response.json({})
})
/** Milliseconds that the statements of a request took since this was asked last: the middle. */
app.get('/times', (_request, response) => {
  response.json(median(times))
  times = []
})
/** Runs the recorded statements of a request, and sends its recorded response. */
app.use(async ({ method, originalUrl }, response) => {
  const key = `${method} ${originalUrl}`
  const { statements, written, fresh, status, json } = recordings.get(key) as Recorded
  const swaps = fresh ? drawSwaps(fresh) : []
  const start = performance.now()
  for (const statement of statements) await send(bare, statement)
  if (written)
    await bare.begin(async (sql) => {
      const renewed = written.map(({ values, ...statement }) => ({
        ...statement,
        values: values.map((value) => renew(value, swaps)),
      }))
      await Promise.all(renewed.map((statement) => send(sql, statement)))
    })
  times.push(performance.now() - start)
  response.status(status).json(renew(json, swaps))
})

const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ msg: 'bare ready', port })}\n`)
})
