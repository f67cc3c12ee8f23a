import { randomUUID } from 'node:crypto'
import type { AddressInfo } from 'node:net'

import express from 'express'
import type { RequestHandler } from 'express'
import postgres from 'postgres'

import { ARRAY_TYPES } from '../../src/db/array-types.ts'
import { makeDatabase } from '../../src/db/client.ts'
import type { Sql } from '../../src/db/client.ts'
import {
  findImageTask,
  insertImageTask,
  listImageTasks,
} from '../../src/db/image-task/image-task.ts'
import { findFile } from '../../src/db/shared/file.ts'
import { insertOutbox } from '../../src/db/shared/outbox.ts'
import { startImageTask } from '../../src/jobs/image-task.ts'
import { POOL } from '../search/sides.ts'
import type { Recorded, Statement } from '../search/statements.ts'
import { spread } from './figures.ts'

/** What the statements about tasks are recorded with. */
export interface BareTasks {
  owner: string
  /** Who creates tasks, in turn. */
  owners: string[]
  /** A task of the owner. */
  taskId: string
  upload: { id: string; name: string; link: string; storageKey: string }
}

/** `node … bare-express.ts <database> [<BareTasks as JSON>]` */
const [, , url = '', given] = process.argv
const FAMILY = 'skin-enhancer'
const KIND = 'skin_flexible'

/** The statements that work of the service's own leads to. */
const record = async (
  recorder: { sql: Sql; heard: Statement[] },
  work: (sql: Sql) => Promise<unknown>,
): Promise<Statement[]> => {
  recorder.heard.length = 0
  await work(recorder.sql)
  return recorder.heard.filter(({ text }) => !/^(begin|commit)/.test(text))
}

const SAMPLE = randomUUID()
const OWNER = randomUUID()

const insertTask = async (sql: Sql, upload: BareTasks['upload']): Promise<unknown> =>
  await sql.begin(async (sql) => {
    const facts = {
      taskId: SAMPLE,
      kind: KIND,
      owner: OWNER,
      summary: `${KIND} of a URL`,
      hasReceiver: false,
    }
    const timing = { heartbeatSeconds: 1, deadlineSeconds: 60 }
    const file = {
      name: null,
      contentType: null,
      bytes: null,
      sha256: null,
      width: null,
      height: null,
    }
    const input = { ...file, field: 'image', url: upload.link, storageKey: upload.storageKey }
    const task = {
      id: SAMPLE,
      kind: KIND,
      segment: FAMILY,
      owner: OWNER,
      settings: {},
      webhookUrl: null,
    } as const
    const quota = { tasks: 1e6, bytes: 1e12, retentionDays: 30 }
    await Promise.all([
      insertOutbox(sql, startImageTask(facts, { taskQueue: 'none', timing })),
      insertImageTask(sql, { ...task, inputs: [input] }, quota),
    ])
  })

const recordAll = async ({ owner, taskId, upload }: BareTasks) => {
  const heard: Statement[] = []
  const sql = makeDatabase({
    url,
    pool: 1,
    name: 'kiln bench recorder',
    statementTimeoutMs: 0,
    onStatement: (statement) => heard.push(statement),
  })
  const recorder = { sql, heard }
  const task = { id: taskId, owner, kinds: [KIND] } as const
  const list = { owner, segment: FAMILY, page: 1, perPage: 20 } as const
  const recorded = {
    status: await record(recorder, (sql) => findImageTask(sql, task)),
    list: await record(recorder, (sql) => listImageTasks(sql, list)),
    file: await record(recorder, (sql) => findFile(sql, upload)),
    creation: await record(recorder, (sql) => insertTask(sql, upload)),
  }
  await sql.end()
  return recorded
}

const bare = postgres(url, { max: POOL, fetch_types: false, types: ARRAY_TYPES })

/** Sends statements one after the other. In their values the second and fourth text stand for the first and third. */
const send = async (sql: Pick<Sql, 'unsafe' | 'typed'>, all: Statement[], swaps: string[] = []) =>
  await Promise.all(
    all.map(async ({ text, values, types }) => {
      const given = swaps.length === 0 ? values : values.map((value) => swap(value, swaps))
      const typed = given.map((value, at) => sql.typed(value as string, types[at] ?? 0))
      return await sql.unsafe(text, typed, { prepare: true })
    }),
  )

const swap = (
  value: unknown,
  [one = '', other = '', third = one, fourth = other]: string[],
): unknown => {
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (!text.includes(one) && !text.includes(third)) return value
  const swapped = text.replaceAll(one, other).replaceAll(third, fourth)
  return typeof value === 'string' ? swapped : (JSON.parse(swapped) as unknown)
}

const app = express()
app.use(express.json({ limit: '1gb' }))

const serveTasks = async (tasks: BareTasks): Promise<void> => {
  const { owners, taskId } = tasks
  const recorded = await recordAll(tasks)
  let created = 0
  const readStatus: RequestHandler = async ({ params }, response) => {
    const [rows] = await send(bare, recorded.status, [taskId, String(params['id'])])
    const [row] = rows ?? []
    response.json({ data: { task_id: row?.['id'], status: row?.['status'], generated: [] } })
  }
  const list: RequestHandler = async (_request, response) => {
    const [rows] = await send(bare, recorded.list)
    response.json({ data: rows })
  }
  const create: RequestHandler = async (_request, response) => {
    const id = randomUUID()
    const owner = owners[created++ % owners.length] ?? ''
    await send(bare, recorded.file)
    await bare.begin((sql) => send(sql, recorded.creation, [SAMPLE, id, OWNER, owner]))
    response.json({ data: { task_id: id, status: 'CREATED', generated: [] } })
  }
  const API = `/proxy/imgvendor/v1/ai/${FAMILY}`
  app.get(`${API}/:id`, readStatus)
  app.get(API, list)
  app.post(`${API}/flexible`, create)
}
if (given) await serveTasks(JSON.parse(given) as BareTasks)

const told = new Map<string, Recorded>()
let times: number[] = []
app.post('/recorded', ({ body }, response) => {
  const { key, ...recorded } = body as Recorded & { key: string }
  told.set(key, recorded)
  response.json({})
})
/** Milliseconds that the statements of a request took since this was asked last: the middle. */
app.get('/times', (_request, response) => {
  response.json(spread(times).median)
  times = []
})
/** What it was told of, it does and answers. */
app.use(async ({ method, originalUrl, headers }, response) => {
  const key = `${method} ${originalUrl} ${headers['if-none-match'] ?? ''}`
  const { statements, status, json } = told.get(key) as Recorded
  const start = performance.now()
  for (const statement of statements) await send(bare, [statement])
  times.push(performance.now() - start)
  response.status(status)
  if (json === undefined) response.end()
  else response.json(json)
})

const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ msg: 'bare ready', port })}\n`)
})
