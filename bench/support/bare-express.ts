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
import { getNode } from '../../src/db/registry/node.ts'
import { getListed, makeCountMemo } from '../../src/db/search/listed-count.ts'
import { countNodes, sumOf } from '../../src/db/search/node-count.ts'
import { CLASSES } from '../../src/db/search/node-filter.ts'
import { nodePageQuery, planNodePage } from '../../src/db/search/node-page.ts'
import { findFile } from '../../src/db/shared/file.ts'
import { insertOutbox } from '../../src/db/shared/outbox.ts'
import { startImageTask } from '../../src/jobs/image-task.ts'
import { POOL } from '../search/sides.ts'
import type { Statement } from '../search/statements.ts'

/** What the statements are recorded with. */
export interface BareOptions {
  url: string
  publicUrl: string
  owner: string
  /** Who creates tasks, in turn. */
  owners: string[]
  /** A task of the owner. */
  taskId: string
  upload: { id: string; name: string; link: string; storageKey: string }
  nodeId: string
  /** Words that are searched for. */
  words: string[]
}

const options = JSON.parse(process.argv[2] ?? '{}') as BareOptions
const { url, publicUrl, owner, taskId, upload, nodeId } = options
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
let created = 0
const nextOwner = (): string => options.owners[created++ % options.owners.length] ?? ''

const insertTask = async (sql: Sql): Promise<unknown> =>
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

const recordAll = async () => {
  const heard: Statement[] = []
  const sql = makeDatabase({
    url,
    pool: 1,
    name: 'kiln bench recorder',
    statementTimeoutMs: 0,
    onStatement: (statement) => heard.push(statement),
  })
  const recorder = { sql, heard }
  const searches = new Map<string, { total: number; statements: Statement[] }>()
  for (const term of options.words) {
    const filter = { term }
    const query = { filter, order: 'relevance', offset: 0, limit: 10 } as const
    const { n, changes } = await getListed(sql, 'node')
    const counts = await countNodes(sql, { filter, reach: 10 }, { memo: makeCountMemo(), changes })
    const work = async (sql: Sql) => {
      await getListed(sql, 'node')
      await sql`${nodePageQuery(sql, query, planNodePage(query, counts, n), publicUrl)}`
    }
    const total = sumOf(counts, [0, ...CLASSES])
    searches.set(term, { total, statements: await record(recorder, work) })
  }
  const task = { id: taskId, owner, kinds: [KIND] } as const
  const list = { owner, segment: FAMILY, page: 1, perPage: 20 } as const
  const recorded = {
    status: await record(recorder, (sql) => findImageTask(sql, task)),
    list: await record(recorder, (sql) => listImageTasks(sql, list)),
    file: await record(recorder, (sql) => findFile(sql, upload)),
    creation: await record(recorder, insertTask),
    node: await record(recorder, (sql) => getNode(sql, nodeId, { publicUrl })),
    searches,
  }
  await sql.end()
  return recorded
}

const recorded = await recordAll()
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
const API = `/proxy/imgvendor/v1/ai/${FAMILY}`

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
  await send(bare, recorded.file)
  await bare.begin((sql) => send(sql, recorded.creation, [SAMPLE, id, OWNER, nextOwner()]))
  response.json({ data: { task_id: id, status: 'CREATED', generated: [] } })
}

const search: RequestHandler = async ({ query }, response) => {
  const { total = 0, statements = [] } = recorded.searches.get(query['search'] as string) ?? {}
  const [listed, page] = statements
  await send(bare, listed ? [listed] : [])
  const [rows = []] = await send(bare, page ? [page] : [])
  const nodes = rows.map((row) => String(row['text'])).join(',')
  const others = `"page":1,"limit":10,"total":${total},"totalPages":${Math.ceil(total / 10)}`
  response.type('json').send(`{"nodes":[${nodes}],${others}}`)
}

const readNode: RequestHandler = async ({ params }, response) => {
  const [rows] = await send(bare, recorded.node, [nodeId, String(params['id'])])
  response.json(rows?.[0]?.['node'])
}

app.get(`${API}/:id`, readStatus)
app.get(API, list)
app.post(`${API}/flexible`, express.json(), create)
app.get('/nodes/search', search)
app.get('/nodes/:id', readNode)

const server = app.listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo
  process.stdout.write(`${JSON.stringify({ msg: 'bare ready', port })}\n`)
})
