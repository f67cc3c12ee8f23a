import assert from 'node:assert/strict'
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readdir, readlink, rm } from 'node:fs/promises'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { after, before, describe, test } from 'node:test'

import { makeSigner, type Signer } from '../../../src/platform/adapters/signing.ts'
import { makeLocalStorage } from '../../../src/platform/storage/local.ts'
import type { Storage } from '../../../src/platform/storage/storage.ts'
import type { Sql } from '../../../src/platform/db/client.ts'
import { makeFileRoutes } from '../../../src/tasks/http/file-routes.ts'
import { readContract, type makeContract } from '../../support/contract.ts'
import { createDatabase } from '../../support/stack.ts'
import { begin, readResponse, type Sent } from '../../support/request.ts'
import { startRoutes } from '../../support/routes.ts'
import { insertNewTask, insertTasks } from '../../support/task-rows.ts'
import { waitFor } from '../../support/wait.ts'

const CONTENT = '0123456789'
const DIGEST = createHash('sha256').update(CONTENT).digest('hex')
const keys = [randomBytes(32).toString('base64')]

let database: Awaited<ReturnType<typeof createDatabase>>
let server: Awaited<ReturnType<typeof startRoutes>>
let sql: Sql
let root: string
let storage: Storage
let signer: Signer
let now = new Date()
let checkResponse: ReturnType<typeof makeContract>

before(async () => {
  checkResponse = await readContract()
  database = await createDatabase()
  sql = database.sql
  root = await mkdtemp(join(tmpdir(), 'kiln-file-'))
  storage = makeLocalStorage({ root })
  // The links are read by their path alone, so the host need not be the server's.
  signer = makeSigner({ keys, publicUrl: 'http://kiln.example', linkSeconds: 86_400 })
  server = await startRoutes(makeFileRoutes({ sql, storage, signer, now: () => now }), { sql })
})

after(async () => {
  await server?.close()
  await database?.drop()
  await rm(root, { recursive: true, force: true })
})

const store = async (key: string, content = CONTENT) =>
  storage.putStream(key, Readable.from([Buffer.from(content)]), { maxBytes: 100_000_000 })

const insertResult = async (
  content = CONTENT,
): Promise<{ id: string; key: string; link: string }> => {
  const [id = ''] = await insertTasks(sql, { state: 'done' })
  const key = `results/${id}/1/result-1.png`
  const { bytes, sha256 } = await store(key, content)
  await sql`update task_result set ${sql({ bytes, sha256 })} where task_id = ${id}`
  return { id, key, link: signer.signFile(id, 'result-1.png', now) }
}

const insertUpload = async (name: string, received: boolean): Promise<string> => {
  const id = randomUUID()
  const key = received ? `uploads/${id}` : null
  if (key) await store(key)
  await sql`
    insert into upload (id, owner, file_name, storage_key, sha256, expires_at, received_at)
    values (${id}, 'alice', ${name}, ${key}, ${DIGEST}, now() + interval '1 day', ${received ? new Date() : null})
  `
  return signer.signFile(id, name, now)
}

const beginAt = (link: string, asked?: Sent) => {
  const { pathname, search } = new URL(link)
  return begin(server.url + pathname + search, asked)
}

const get = async (link: string, asked?: Sent) => {
  const sent = beginAt(link, asked).end()
  const { status, headers, bytes, body } = await readResponse(sent)
  const checked = status < 400 || bytes.length === 0 ? undefined : body
  checkResponse({ method: sent.method, path: new URL(link).pathname, status, body: checked })
  return { status, headers, body: bytes.toString() }
}

const isOpenToAll = (headers: IncomingHttpHeaders) => {
  assert.equal(headers['access-control-allow-origin'], '*')
  assert.equal(headers['cross-origin-resource-policy'], 'cross-origin')
}

const rejects = async (link: string, status: number, code: string, asked?: Sent) => {
  const response = await get(link, asked)
  assert.deepEqual([response.status, JSON.parse(response.body).error], [status, code], link)
  assert.match(response.headers['content-type'] ?? '', /^application\/json/)
  isOpenToAll(response.headers)
  return response
}

describe('a signed file link', () => {
  test('gives the file, described so that no browser runs it and every page may show it', async () => {
    const { id, link } = await insertResult()
    const { status, headers, body } = await get(link)
    assert.deepEqual([status, body], [200, CONTENT])
    assert.equal(headers['content-type'], 'image/png')
    assert.equal(headers['content-length'], '10')
    assert.equal(headers['etag'], `"${DIGEST}"`)
    assert.equal(headers['accept-ranges'], 'bytes')
    assert.equal(headers['x-content-type-options'], 'nosniff')
    const disposition = `inline; filename="upscale-${id.slice(0, 8)}-1.png"`
    assert.equal(headers['content-disposition'], disposition)
    assert.equal(headers['content-security-policy'], "default-src 'none'; sandbox")
    isOpenToAll(headers)
  })

  test('may be kept by a private cache until it ends', async () => {
    const { link } = await insertResult()
    const { headers } = await get(link)
    const [, maxAge] = /^private, max-age=(\d+)$/.exec(headers['cache-control'] ?? '') ?? []
    assert.equal(Number(maxAge), Math.floor(signer.linkExpiry(now) - now.getTime() / 1000))
  })

  test('a signed file link responds to HEAD with the same headers and no body', async () => {
    const { link } = await insertResult()
    const [whole, head] = [await get(link), await get(link, { method: 'HEAD' })]
    assert.deepEqual([head.status, head.body], [200, ''])
    for (const name of ['content-type', 'content-length', 'etag', 'accept-ranges', 'cache-control'])
      assert.equal(head.headers[name], whole.headers[name], name)
    const part = await get(link, { method: 'HEAD', headers: { range: 'bytes=0-1' } })
    assert.deepEqual([part.status, part.headers['content-length']], [200, '10'])
  })

  test('reaches the stored input of a task and an upload that has arrived', async () => {
    const id = randomUUID()
    const storageKey = `inputs/${id}/image.jpg`
    await store(storageKey)
    const given = { field: 'image', name: 'input-image.jpg', contentType: 'image/jpeg' }
    await sql.begin((sql) => insertNewTask(sql, { id, inputs: [{ ...given, storageKey }] }))
    const input = await get(signer.signFile(id, 'input-image.jpg', now))
    assert.deepEqual([input.status, input.headers['content-type']], [200, 'image/jpeg'])
    assert.equal(input.headers['etag'], undefined)

    const upload = await get(await insertUpload('über "100%".html', true))
    assert.deepEqual([upload.status, upload.body], [200, CONTENT])
    assert.equal(upload.headers['cache-control'], 'private, no-cache', 'it may be replaced')
    assert.equal(upload.headers['content-type'], 'application/octet-stream')
    assert.equal(
      upload.headers['content-disposition'],
      'inline; filename="_ber _100__.html"; filename*=UTF-8\'\'%C3%BCber%20%22100%25%22.html',
    )
  })

  test('streams a big file whole', async () => {
    const content = 'x'.repeat(20_000_000)
    const { link } = await insertResult(content)
    const { status, body } = await get(link)
    assert.equal(status, 200)
    assert.ok(body === content)
  })

  test('reads an empty file', async () => {
    const { link } = await insertResult('')
    assert.deepEqual((await get(link)).body, '')
    await rejects(link, 416, 'range_not_satisfiable', { headers: { range: 'bytes=0-' } })
    await rejects(link, 416, 'range_not_satisfiable', { headers: { range: 'bytes=-5' } })
  })

  test('closes the file when the client goes away', async (context) => {
    if (process.platform !== 'linux') return context.skip('needs /proc')
    const { link } = await insertResult('x'.repeat(50_000_000))
    const asked = beginAt(link).end()
    const [response] = (await once(asked, 'response')) as [IncomingMessage]
    await once(response, 'data')
    assert.equal(await countOpen(), 1)
    asked.destroy()
    await waitFor('the file is closed', async () => (await countOpen()) === 0)
  })
})

/** Files of the store that this process, which is the server too, holds open. */
const countOpen = async (): Promise<number> => {
  const names = await readdir('/proc/self/fd')
  const paths = await Promise.all(
    names.map((name) => readlink(`/proc/self/fd/${name}`).catch(() => '')),
  )
  return paths.filter((path) => path.startsWith(root)).length
}

describe('a range', () => {
  test('gives one part with its place in the file', async () => {
    const { link } = await insertResult()
    const cases = [
      ['bytes=0-0', '0', '0-0'],
      ['bytes=2-4', '234', '2-4'],
      ['bytes=9-', '9', '9-9'],
      ['bytes=0-', CONTENT, '0-9'],
      ['bytes=5-1000', '56789', '5-9'],
      ['bytes=5-99999999999999999999', '56789', '5-9'],
      ['bytes=-3', '789', '7-9'],
      ['bytes=-1000', CONTENT, '0-9'],
      ['Bytes=1-2', '12', '1-2'],
    ] as const
    for (const [range, part, place] of cases) {
      const { status, headers, body } = await get(link, { headers: { range } })
      assert.deepEqual([status, body], [206, part], range)
      assert.equal(headers['content-range'], `bytes ${place}/10`)
      assert.equal(headers['content-length'], String(part.length))
      assert.equal(headers['content-type'], 'image/png')
      assert.equal(headers['etag'], `"${DIGEST}"`)
    }
  })

  test('outside the file is 416 with the size', async () => {
    const { link } = await insertResult()
    for (const range of ['bytes=10-', 'bytes=10-20', 'bytes=99999999999999999999-', 'bytes=-0']) {
      const { headers } = await rejects(link, 416, 'range_not_satisfiable', { headers: { range } })
      assert.equal(headers['content-range'], 'bytes */10')
    }
  })

  test('that is malformed, backward or one of several gets the whole file', async () => {
    const { link } = await insertResult()
    const ranges = [
      'bytes=',
      'bytes=-',
      'bytes=a-b',
      'bytes=5-2',
      'bytes=0-1,3-4',
      'bytes=0-1,',
      'lines=0-1',
      '0-1',
    ]
    for (const range of ranges) {
      const { status, headers, body } = await get(link, { headers: { range } })
      assert.deepEqual([status, body, headers['content-range']], [200, CONTENT, undefined], range)
    }
  })

  test('counts only while If-Range holds', async () => {
    const { link } = await insertResult()
    const range = 'bytes=0-1'
    const cases: [string, number][] = [
      [`"${DIGEST}"`, 206],
      ['"other"', 200],
      [`W/"${DIGEST}"`, 200],
      [new Date().toUTCString(), 200],
    ]
    for (const [ifRange, status] of cases) {
      const headers = { range, 'if-range': ifRange }
      assert.equal((await get(link, { headers })).status, status, ifRange)
    }
  })
})

test('If-None-Match of the file is 304 without a body', async () => {
  const { link } = await insertResult()
  for (const tag of [`"${DIGEST}"`, `W/"${DIGEST}"`, `"a", "${DIGEST}"`, '*'])
    for (const method of ['GET', 'HEAD']) {
      const asked = { method, headers: { 'if-none-match': tag } }
      const { status, headers, body } = await get(link, asked)
      assert.deepEqual([status, body, headers['etag']], [304, '', `"${DIGEST}"`], tag)
    }
  assert.equal((await get(link, { headers: { 'if-none-match': '"other"' } })).status, 200)
})

describe('where the store has links', () => {
  before(() => {
    storage.link = (key, response) =>
      Promise.resolve(`https://store.example/${key}?${JSON.stringify(response)}`)
  })
  after(() => {
    delete storage.link
  })

  test('a picture is read from there, described as here', async () => {
    const { id, link } = await insertResult()
    const { status, headers } = await get(link, { headers: { range: 'bytes=0-1' } })
    assert.deepEqual([status, headers['cache-control']], [307, 'no-store'])
    isOpenToAll(headers)
    const location = new URL(headers.location ?? '')
    assert.equal(location.pathname, `/results/${id}/1/result-1.png`)
    assert.deepEqual(JSON.parse(decodeURIComponent(location.search.slice(1))), {
      contentType: 'image/png',
      disposition: `inline; filename="upscale-${id.slice(0, 8)}-1.png"`,
      cacheControl: 'private, max-age=600',
      ends: signer.linkExpiry(now),
    })
  })

  test('the service serves all else, and whoever asks for the bytes, where the store has links', async () => {
    const { link } = await insertResult()
    assert.equal((await get(`${link}&redirect=0`)).body, CONTENT)
    assert.equal((await get(link, { method: 'HEAD' })).status, 200)
    assert.equal((await get(link, { headers: { 'if-none-match': `"${DIGEST}"` } })).status, 304)
    await rejects(link, 416, 'range_not_satisfiable', { headers: { range: 'bytes=99-' } })
    await rejects(link.replace('signature=', 'signature=A'), 403, 'signature_invalid')
    assert.equal((await get(await insertUpload('unknown', true))).body, CONTENT)
    const own = signer.parseOwnLink(`${link}&redirect=0`, now)
    assert.deepEqual(Object.keys(own ?? {}), ['id', 'name'])
  })
})

describe('a link that does not hold', () => {
  test('is 403 when its signature is wrong, whether the file exists or not', async () => {
    const [one, other] = [await insertResult(), await insertResult()]
    const wrong = [
      one.link.replace(one.id, other.id),
      one.link.replace('result-1', 'result-2'),
      one.link.replace('signature=', 'signature=A'),
      one.link.replace(/&signature.*/, ''),
      one.link.replace(/expires=\d+&/, ''),
      one.link.replace(/expires=\d/, 'expires=9'),
      one.link.replace(/\?.*/, ''),
      `http://kiln.example/files/${randomUUID()}/result-1.png?expires=1&signature=x`,
      'http://kiln.example/files/x/%2e%2e%2fsecret?expires=1&signature=x',
    ]
    for (const link of wrong) await rejects(link, 403, 'signature_invalid')
  })

  test('is 403 link_expired once its time is over', async (context) => {
    const { link } = await insertResult()
    const past = now
    context.after(() => {
      now = past
    })
    now = new Date(signer.linkExpiry(past) * 1000)
    await rejects(link, 403, 'link_expired')
    await rejects(link.replace('signature=', 'signature=A'), 403, 'signature_invalid')
  })

  test('is 410 when the file was removed by age', async () => {
    const purged = await insertResult()
    await sql`update task set purged_at = clock_timestamp() where id = ${purged.id}`
    await rejects(purged.link, 410, 'file_gone')
    const removed = await insertResult()
    await storage.remove(removed.key)
    await rejects(removed.link, 410, 'file_gone')
    const upload = await insertUpload('a.png', true)
    await sql`update upload set purged_at = clock_timestamp(), storage_key = null where file_name = 'a.png'`
    await rejects(upload, 410, 'file_gone')
  })

  test('a link is not 410 while its upload is replaced: the new bytes are served', async (context) => {
    const link = await insertUpload('replaced.png', true)
    const id = new URL(link).pathname.split('/')[2] ?? ''
    const { open } = storage
    context.mock.method(storage, 'open', async (key: string) => {
      if (key !== `uploads/${id}`) return await open(key)
      const { bytes } = await store(`uploads/${id}.new`, 'new')
      await sql`update upload set storage_key = ${`uploads/${id}.new`}, bytes = ${bytes} where id = ${id}`
      await storage.remove(key)
      return await open(key)
    })
    const { status, body } = await get(link)
    assert.deepEqual([status, body], [200, 'new'])
  })

  test('a link is 503 while the store does not respond', async (context) => {
    const { link } = await insertResult()
    context.mock.method(storage, 'open', () => Promise.reject(new Error('connect ECONNREFUSED')))
    const { status, body } = await get(link)
    assert.deepEqual([status, JSON.parse(body).error], [503, 'unavailable'])
  })

  test('is 404 when there never was such a file', async () => {
    const { id } = await insertResult()
    await rejects(signer.signFile(id, 'result-2.png', now), 404, 'file_not_found')
    await rejects(signer.signFile(randomUUID(), 'result-1.png', now), 404, 'file_not_found')
    await rejects(signer.signFile('no-uuid', 'result-1.png', now), 404, 'file_not_found')
    await rejects(await insertUpload('b.png', false), 404, 'file_not_found')
  })
})
