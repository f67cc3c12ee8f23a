import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { startDatabaseProxy } from '../db/proxy.ts'
import type { DatabaseProxy } from '../db/proxy.ts'
import type { Answer } from '../support/client.ts'
import { allowConnections, createDatabase } from '../support/stack.ts'
import type { TestDatabase } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import {
  addActive,
  expectStatus,
  listOf,
  makeNode,
  makePublisher,
  startRegistry,
  unique,
} from './registry-support.ts'
import type { Owned, Registry } from './registry-support.ts'

/** A delete that the database does not carry out is no success; `registry-defects.test.ts` says for which fault this is. */

let database: TestDatabase
let proxy: DatabaseProxy
let registry: Registry
let owned: Owned
let nodeId: string
let versionId: string
let member: string
let tokenId: string

before(async () => {
  database = await createDatabase()
  proxy = await startDatabaseProxy(database.url)
  registry = await startRegistry({}, { ...database, url: proxy.url })
  owned = await makePublisher(registry)
  nodeId = await makeNode(owned)
  versionId = await addActive(registry, owned, { nodeId })
  member = unique('member')
  await (await registry.client(member)).get('/users')
  const path = `/publishers/${owned.id}/members/${member}`
  expectStatus(await owned.owner.call('PUT', path, { role: 'member' }), 200)
  const [token] = listOf(await owned.owner.get(`/publishers/${owned.id}/tokens`))
  tokenId = String(token?.['id'])
})

after(async () => {
  await registry?.stop()
  await proxy?.close()
})

/** Everything that can be deleted, least first. */
const deletions = (): [what: string, path: string][] => {
  const own = `/publishers/${owned.id}`
  return [
    ['token', `${own}/tokens/${tokenId}`],
    ['member', `${own}/members/${member}`],
    ['version', `${own}/nodes/${nodeId}/versions/${versionId}`],
    ['node', `${own}/nodes/${nodeId}`],
  ]
}

/** All rows that a delete could touch. */
const takeStock = async (): Promise<object> => {
  const { sql } = database
  const [row] = await sql`
    select
      (select json_agg(n) from node n) as nodes,
      (select json_agg(s) from node_stats s) as stats,
      (select json_agg(v) from version v) as versions,
      (select json_agg(m order by m.at, m.id) from version_move m) as moves,
      (select json_agg(m order by m.user_id) from publisher_member m) as members,
      (select json_agg(t) from personal_access_token t) as tokens,
      (select json_agg(c order by c.kind, c.slot) from listed_count c) as counts
  `
  return { ...row }
}

const remove = (path: string): Promise<Answer> => owned.owner.call('DELETE', path)

describe('a delete', () => {
  test('is 503 while the database is away, and changes nothing', async () => {
    const before = await takeStock()
    await allowConnections(database, false)
    try {
      for (const [what, path] of deletions()) {
        const refused = expectStatus(await remove(path), 503, 'unavailable')
        assert.ok(Number(refused.headers.get('retry-after')) > 0, what)
        assert.doesNotMatch(refused.body.message ?? '', /sql|postgres|connect|database "/i, what)
      }
    } finally {
      await allowConnections(database, true)
    }
    await waitFor('the database is back', () => takeStock().catch(() => undefined))
    assert.deepEqual(await takeStock(), before)
  })

  for (const [index, what] of ['member', 'version', 'node'].entries())
    test(`of a ${what} is 503 when its COMMIT is lost, and changes nothing`, async () => {
      const before = await takeStock()
      const [, path] = deletions()[index + 1] ?? ['', '']
      await waitFor('the api has its database', async () => {
        const { status } = await registry.anonymous.get(`/nodes/${nodeId}`)
        return status === 200
      })
      proxy.fault = 'lost before'
      const refused = expectStatus(await remove(path), 503, 'outcome_unknown')
      assert.ok(Number(refused.headers.get('retry-after')) > 0, what)
      assert.deepEqual(await takeStock(), before)
    })

  test('is done when it is repeated', async () => {
    for (const [what, path] of deletions()) {
      const answer = await waitFor(`the ${what} is deleted`, async () => {
        const answer = await remove(path)
        return answer.status !== 503 && answer
      })
      expectStatus(answer, 204)
    }
  })
})
