import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { makeKiln } from '../src/index.ts'
import { ROOT } from '../../../src/local/root.ts'
import { makeFolder } from '../../../test/support/folder.ts'
import { makeFaultyFetch } from './issues.ts'
import type { OnTheWay } from './issues.ts'

/** Calls of both clients with what they send and return. */
interface Call {
  request: string
  typescript: [method: string, ...args: unknown[]]
  body?: object
  response: object
  result?: unknown
}
const calls = JSON.parse(
  await readFile(join(ROOT, 'packages/client/test/shared/routes.json'), 'utf8'),
) as Call[]

const respond =
  (body: object | string): OnTheWay =>
  () =>
    Promise.resolve(typeof body === 'string' ? new Response(body) : Response.json(body))

const make = (...interceptors: OnTheWay[]) => {
  const { fetch, seen } = makeFaultyFetch(...interceptors)
  const retry = { baseMs: 1 }
  return { kiln: makeKiln({ baseUrl: 'http://kiln.test', token: 't', retry, fetch }), seen }
}

const urlsOf = (seen: Request[]): string[] =>
  seen.map(({ url }) => url.replace('http://kiln.test', ''))

const readAll = async <T>(list: AsyncIterable<T>): Promise<T[]> => {
  const items: T[] = []
  for await (const item of list) items.push(item)
  return items
}

/** Calls a method by its name; reads a list to its end. */
const call = async (kiln: object, [name, ...args]: Call['typescript']): Promise<unknown> => {
  const path = name.split('.')
  const owner = path.slice(0, -1).reduce<unknown>((at, part) => (at as never)[part], kiln)
  const method = (owner as never)[path.at(-1) ?? ''] as (...args: unknown[]) => unknown
  const result = await method(...args)
  const isList = Symbol.asyncIterator in Object(result)
  return isList ? await readAll(result as AsyncIterable<unknown>) : result
}

describe('a method of the client', () => {
  for (const { request, typescript, body, response, result } of calls)
    test(`${typescript[0]} sends ${request}`, async () => {
      const { kiln, seen } = make(respond(response))
      const returned = await call(kiln, typescript)
      const [sent] = seen
      assert.deepEqual([seen.length, `${sent?.method} ${urlsOf(seen)[0]}`], [1, request])
      const text = (await sent?.text()) ?? ''
      assert.deepEqual(text === '' ? undefined : JSON.parse(text), body)
      if (result !== undefined) assert.deepEqual(returned, result)
    })
})

describe('a list', () => {
  const page = (from: number, count: number, next?: string) =>
    respond({ tasks: Array.from({ length: count }, (_, at) => ({ task_id: from + at })), next })

  test('is read page by page, as its items are taken, also over an empty page', async () => {
    const { kiln, seen } = make(page(0, 100, 'a'), page(100, 0, 'b'), page(100, 1))
    const ids: unknown[] = []
    for await (const { task_id: id } of kiln.tasks.list({ state: ['done'] })) {
      assert.equal(seen.length, ids.length < 100 ? 1 : 3)
      ids.push(id)
    }
    assert.equal(ids.length, 101)
    const query = (cursor: string) => `/tasks?state=done&limit=100${cursor}`
    assert.deepEqual(urlsOf(seen), ['', '&after=a', '&after=b'].map(query))
  })

  test('ends with its limit', async () => {
    const { kiln, seen } = make(page(0, 100, 'a'), page(100, 20, 'b'))
    assert.equal((await readAll(kiln.tasks.list({ limit: 120 }))).length, 120)
    assert.deepEqual(urlsOf(seen), ['/tasks?limit=100', '/tasks?limit=20&after=a'])
  })

  test('of none asks for nothing', async () => {
    const { kiln, seen } = make()
    const none = { limit: 0 }
    const { tasks, events, endpoints, batches, operations } = kiln
    for (const list of [
      tasks.list(none),
      events.list(none),
      endpoints.events('p', none),
      batches.list(none),
      operations.list(none),
    ])
      assert.deepEqual(await readAll<unknown>(list), [])
    assert.equal(seen.length, 0)
  })

  test('of the events of an endpoint goes on before the last of a full page', async () => {
    const ids = (count: number) => Array.from({ length: count }, (_, at) => ({ id: `e${at}` }))
    const { kiln, seen } = make(respond({ events: ids(100) }), respond({ events: ids(1) }))
    assert.equal((await readAll(kiln.endpoints.events('p'))).length, 101)
    const path = '/endpoints/p/events?limit=100'
    assert.deepEqual(urlsOf(seen), [path, `${path}&before=e99`])
  })
})

test('a wait for a batch reads its counts until it has ended, and reports each', async () => {
  const [running, ended] = [
    { state: 'running', total: 2 },
    { state: 'done', total: 2 },
  ]
  const { kiln, seen } = make(respond(running), respond(running), respond(ended))
  const reported: string[] = []
  const onProgress = ({ state }: { state: string }) => void reported.push(state)
  assert.equal((await kiln.batches.wait('b', { onProgress })).state, 'done')
  assert.deepEqual([reported, seen.length], [['running', 'running'], 3])
})

test('a file is saved whole, or stays as it was', async (context) => {
  const folder = await makeFolder(context, { 'out.png': 'before' })
  const path = join(folder, 'out.png')
  const link = 'https://a.example/files/1.png'
  const { kiln } = make(respond('bytes'), () => Promise.resolve(new Response('', { status: 410 })))
  await kiln.save(link, path)
  assert.equal(await readFile(path, 'utf8'), 'bytes')
  await assert.rejects(kiln.save(link, path), { code: 'answer_unknown' })
  assert.equal(await readFile(path, 'utf8'), 'bytes')
  const { kiln: other } = make(respond('bytes'))
  await assert.rejects(other.save(link, folder), /^ArgumentError: path must name a file/)
  const { kiln: third } = make(respond('bytes'))
  await assert.rejects(
    third.save(link, join(folder, 'no/out.png')),
    /^ArgumentError: path must be in a folder that is there: .*\/no is none$/,
  )
})
