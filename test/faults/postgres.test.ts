import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Client } from '../support/client.ts'
import { startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { CREATE, clientOf, createUntilAnswered, tryCreate } from './calls.ts'
import { assertLedger, assertWorkflows } from './ledger.ts'
import { startOwnPostgres, startOwnTemporal } from './servers.ts'
import type { OwnPostgres, OwnTemporal } from './servers.ts'

describe('when PostgreSQL is killed', () => {
  let postgres: OwnPostgres
  let temporal: OwnTemporal
  let service: Service
  let alice: Client
  const ids: string[] = []

  before(async () => {
    ;[postgres, temporal] = await Promise.all([startOwnPostgres(), startOwnTemporal()])
    service = await startService({
      database: postgres.database,
      env: { TEMPORAL_ADDRESS: temporal.server.address },
    })
    alice = await clientOf(service)
  })
  after(async () => {
    await service.stop()
    await temporal.stop()
  })

  const createAll = async (keys: string[]): Promise<void> => {
    const made = keys.map((key, shade) => createUntilAnswered(service, { client: alice, key, shade }))
    ids.push(...(await Promise.all(made)))
  }

  test('under creations, each is answered as JSON and its key gets the one task', async () => {
    const pids = [...(['api', 'core', 'media'] as const)].map((role) => service.entry(role).pid)
    const keys = Array.from({ length: 10 }, (_, index) => `killed-${index}`)
    const first = keys.map((key, shade) => tryCreate(alice, key, shade))
    await postgres.server.kill()
    for (const answer of await Promise.all(first)) {
      assert.ok(answer, 'an answer, not a broken connection')
      if (answer.status === 200) continue
      assert.equal(answer.status, 503)
      assert.match(String(answer.body.error), /^(outcome_unknown|unavailable)$/)
      assert.ok(answer.headers.get('retry-after'))
    }
    await assertOutage()
    await postgres.server.restart()
    await createAll(keys)
    const tasks = await assertLedger(service, ids)
    assert.deepEqual(new Set(tasks.map((task) => task.status)), new Set(['COMPLETED']))
    await assertWorkflows(service, temporal.server.address, ids)
    assert.deepEqual(
      (['api', 'core', 'media'] as const).map((role) => service.entry(role).pid),
      pids,
    )
    assert.equal((await alice.get('/ready')).status, 200)
  })

  const assertOutage = async (): Promise<void> => {
    const read = await alice.get(`${CREATE}/00000000-0000-4000-8000-000000000000`)
    assert.equal(read.status, 503)
    assert.equal(read.body.error, 'unavailable')
    assert.equal((await alice.get('/health')).status, 200)
    await waitFor('it says so', async () => (await alice.get('/ready')).status === 503)
  }

  test('with everything else, and all come back in any order, every task ends once', async () => {
    await service.entry('media').kill()
    await createAll(Array.from({ length: 20 }, (_, index) => `everything-${index}`))
    await Promise.all([
      service.entry('api').kill(),
      service.entry('core').kill(),
      temporal.server.kill(),
      postgres.server.kill(),
    ])
    const starting = (['media', 'api', 'core'] as const).map((role) => service.start(role))
    await postgres.server.restart()
    await temporal.server.restart()
    await Promise.all(starting)
    const tasks = await assertLedger(service, ids)
    assert.deepEqual(new Set(tasks.map((task) => task.status)), new Set(['COMPLETED']))
    await assertWorkflows(service, temporal.server.address, ids)
  })
})
