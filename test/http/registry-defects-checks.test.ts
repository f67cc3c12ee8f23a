import assert from 'node:assert/strict'
import { rename } from 'node:fs/promises'
import { after, before, describe, test } from 'node:test'

import { makeClient } from '../support/client.ts'
import type { Answer, Client } from '../support/client.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import { ADMIN, expectStatus, makeToken, unique } from './registry-support.ts'

/** Faults of other registries in what follows an upload; `registry-defects.test.ts` says which test is for which. */

const ACTIVE = 'NodeVersionStatusActive'
const PENDING = 'NodeVersionStatusPending'
const FLAGGED = 'NodeVersionStatusFlagged'

let service: Service
/** An api that cannot reach Temporal: what is published there waits until the test lets it go. */
let apart: Client
let owner: Client
let admin: Client
let anonymous: Client
let token: string

before(async () => {
  service = await startService({ env: { ADMIN_SUBJECTS: ADMIN } })
  const { baseUrl } = service
  const second = await service.startSecondApi({
    TEMPORAL_ADDRESS: '127.0.0.1:1',
    RELAY_INTERVAL_MS: '86400000',
  })
  const olga = await service.token('olga')
  apart = makeClient(second.baseUrl, olga)
  owner = makeClient(baseUrl, olga)
  admin = makeClient(baseUrl, await service.token(ADMIN))
  anonymous = makeClient(baseUrl)
  expectStatus(await owner.post('/publishers', { id: 'acme' }), 201)
  token = await makeToken(owner, 'acme')
})

after(() => service?.stop())

const ZIP = makeZip('NODE_CLASS_MAPPINGS = {}\n', '__init__.py')

const publish = async (nodeId: string, client = owner): Promise<{ id: string; url: string }> => {
  const { body } = expectStatus(
    await client.post(`/publishers/acme/nodes/${nodeId}/versions`, {
      node: {},
      node_version: { version: '1.0.0' },
      personal_access_token: token,
    }),
    201,
  )
  const { id } = body['node_version'] as unknown as { id: string }
  return { id, url: String(body['signedUrl']) }
}

const upload = async (url: string, bytes = ZIP): Promise<void> => {
  const { status } = await fetch(url, { method: 'PUT', body: Uint8Array.from(bytes) })
  assert.equal(status, 200)
}

const read = (nodeId: string): Promise<Answer> => anonymous.get(`/nodes/${nodeId}/versions/1.0.0`)

/** The version once it has that status, or once it says that. */
const until = (nodeId: string, wanted: string | RegExp): Promise<Answer> =>
  waitFor(`${nodeId} is ${String(wanted)}`, async () => {
    const answer = await read(nodeId)
    const { status, status_reason: reason } = answer.body as Record<string, unknown>
    const found = typeof wanted === 'string' ? status === wanted : wanted.test(String(reason))
    return found && answer
  })

interface Move {
  from?: string
  to: string
  reason: string
  actor: string
}

const movesOf = async (nodeId: string): Promise<Move[]> => {
  const { body } = await owner.get(`/nodes/${nodeId}/versions/1.0.0/findings`)
  return body['moves'] as unknown as Move[]
}

describe('a version that is flagged', () => {
  test('is stored with a readable reason, which whoever installs it is told', async () => {
    const nodeId = unique('pack')
    const { url } = await publish(nodeId)
    await upload(url, ZIP.subarray(0, ZIP.length - 22))
    const { body } = await until(nodeId, FLAGGED)
    const reason = String(body['status_reason'])
    assert.match(reason, /archive/i)
    assert.equal('downloadUrl' in body, false)
    for (const path of [
      `/nodes/${nodeId}/install?version=1.0.0`,
      `/archives/acme/${nodeId}/1.0.0/node.zip`,
    ]) {
      const refused = expectStatus(await anonymous.get(path), 403, 'version_blocked')
      assert.ok(refused.body.message?.includes(reason), refused.body.message)
    }
    const [last] = (await movesOf(nodeId)).slice(-1)
    assert.deepEqual([last?.to, last?.reason, last?.actor], [FLAGGED, reason, 'workflow'])
    const told = await anonymous.get(`/nodes/${nodeId}/versions/1.0.0/findings`)
    assert.equal('moves' in told.body, false)
    const found = await anonymous.get(`/versions?nodeId=${nodeId}&statuses=${FLAGGED}`)
    assert.equal(found.body['total'], 1)
  })

  test('is looked at by an admin when its owner asks, and each of its moves has an actor', async () => {
    const nodeId = unique('pack')
    const { id, url } = await publish(nodeId)
    await upload(url)
    await until(nodeId, ACTIVE)
    const path = `/admin/nodes/${nodeId}/versions/1.0.0`
    const flag = { status: FLAGGED, status_reason: 'looks odd' }
    expectStatus(await admin.call('PUT', path, flag), 200)
    const review = `/publishers/acme/nodes/${nodeId}/versions/${id}/review`
    expectStatus(await owner.post(review, { note: 'it is a test file' }), 201)
    const open = await admin.get('/versions?review_requested=true')
    const versions = open.body['versions'] as unknown as { id: string }[]
    assert.deepEqual(
      versions.map((version) => version.id),
      [id],
    )
    const activate = { status: ACTIVE, status_reason: 'harmless' }
    expectStatus(await admin.call('PUT', path, activate), 200)
    expectStatus(await anonymous.get(`/nodes/${nodeId}/install`), 200)
    const moves = await movesOf(nodeId)
    assert.deepEqual(
      moves.map(({ to, actor }) => [to, actor]),
      [
        [PENDING, 'user:olga'],
        [PENDING, 'workflow'],
        [ACTIVE, 'workflow'],
        [FLAGGED, `user:${ADMIN}`],
        [ACTIVE, `user:${ADMIN}`],
      ],
    )
    assert.deepEqual(
      moves.slice(1).map(({ from }) => from),
      moves.slice(0, -1).map(({ to }) => to),
    )
  })
})

describe('a check that cannot run', () => {
  /** The start of a version's workflow, with the pauses between tries of its checks shortened. */
  const letGo = async (id: string): Promise<void> => {
    const { sql } = service.database
    const timing = { tries: 2, retrySeconds: 0.05, maxRetrySeconds: 0.05 }
    await sql`
      update outbox
      set args = jsonb_set(args, '{0,timing}', ${sql.json(timing)}), next_try_at = now()
      where workflow_id = ${`publish-version/${id}`}
    `
  }

  test('says so, holds up no other version, and ends well when it is tried again', async () => {
    const { sql } = service.database
    const [stuck, other] = [unique('pack'), unique('pack')]
    const { id, url } = await publish(stuck, apart)
    await sql`update outbox set next_try_at = 'infinity' where workflow_id = ${`publish-version/${id}`}`
    await upload(url)
    const stored = `${service.storagePath}/uploads/${id}`
    const away = `${service.storagePath}/../away`
    await rename(stored, away)
    await letGo(id)
    const { body } = await until(stuck, /checks could not run/)
    assert.equal(body['status'], PENDING)
    assert.match(String(body['status_reason']), /archive is missing.*an operator can retry/)
    // Neither path nor key of what is missing.
    assert.doesNotMatch(String(body['status_reason']), /\//)

    const { url: otherUrl } = await publish(other)
    await upload(otherUrl)
    await until(other, ACTIVE)

    await rename(away, stored)
    const retry = `/admin/nodes/${stuck}/versions/1.0.0/retry`
    const { body: tried } = expectStatus(await admin.post(retry, {}), 200)
    assert.equal(tried['status'], PENDING)
    await until(stuck, ACTIVE)
    expectStatus(await anonymous.get(`/nodes/${stuck}/install`), 200)
    const moves = await movesOf(stuck)
    assert.deepEqual(moves.map(({ actor }) => actor).slice(0, 4), [
      'user:olga',
      'workflow',
      'workflow',
      `user:${ADMIN}`,
    ])
  })
})
