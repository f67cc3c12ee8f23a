import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import type { Answer, Client } from '../support/client.ts'
import { AWAITS_OUTAGE, startService } from '../support/service.ts'
import type { Service } from '../support/service.ts'
import { openStream } from '../support/event-stream.ts'
import { base64 } from '../support/pictures.ts'
import { waitFor } from '../support/wait.ts'
import { CREATE, clientOf, createUntilAnswered, tryCreate } from './calls.ts'
import { assertLedger, assertWorkflows } from './ledger.ts'
import { startOwnPostgres, startOwnTemporal } from './servers.ts'
import type { OwnPostgres, OwnTemporal } from './servers.ts'

const ROLES = ['api', 'core', 'media'] as const

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
      env: { ...AWAITS_OUTAGE, TEMPORAL_ADDRESS: temporal.server.address },
    })
    alice = await clientOf(service)
  })
  after(async () => {
    await service.stop()
    await temporal.stop()
  })

  const createAll = async (keys: string[]): Promise<void> => {
    const made = keys.map((key, shade) =>
      createUntilAnswered(service, { client: alice, key, shade }),
    )
    ids.push(...(await Promise.all(made)))
  }

  test('under creations, each is answered as JSON and its key gets the one task', async () => {
    const keys: string[] = []
    const answers: (Answer | undefined)[] = []
    const killed = new AbortController()
    const call = async (): Promise<void> => {
      while (!killed.signal.aborted) {
        const shade = keys.push(`killed-${keys.length}`) - 1
        answers.push(await tryCreate(alice, `killed-${shade}`, shade))
      }
    }
    const callers = Array.from({ length: 6 }, call)
    await waitFor('some are answered', () => Promise.resolve(answers.length >= 10))
    await killInTransactions()
    killed.abort()
    await Promise.all(callers)
    for (const answer of answers) assertAnswer(answer)
    await assertOutage()
    await postgres.server.restart()
    await createAll(keys)
    const tasks = await assertLedger(service, ids)
    assert.deepEqual(new Set(tasks.map((task) => task.status)), new Set(['COMPLETED']))
    await assertWorkflows(service, temporal.server.address, ids)
    const lives = Promise.resolve('lives')
    for (const role of ROLES)
      assert.equal(await Promise.race([service.entry(role).ended, lives]), 'lives', role)
    assert.equal((await alice.get('/ready')).status, 200)
  })

  /** Kills the server while transactions of the api are open: without the lock most would be between two queries. */
  const killInTransactions = async (): Promise<void> => {
    const { sql } = postgres.database
    const locked = sql.begin(async (sql) => {
      await sql`lock table event in exclusive mode`
      await waitFor('transactions wait for the lock', async () => {
        const waiting = await sql`
          select from pg_stat_activity where wait_event_type = 'Lock' and application_name = 'kiln api'
        `
        return waiting.length >= 3
      })
      await postgres.server.kill()
    })
    await assert.rejects(locked)
  }

  const assertAnswer = (answer: Answer | undefined): void => {
    assert.ok(answer, 'an answer, not a broken connection')
    if (answer.status === 200) return
    assert.equal(answer.status, 503)
    assert.match(String(answer.body.error), /^(outcome_unknown|unavailable)$/)
    assert.ok(answer.headers.get('retry-after'))
  }

  const assertOutage = async (): Promise<void> => {
    const read = await fetch(`${service.baseUrl}${CREATE}/00000000-0000-4000-8000-000000000000`, {
      headers: { authorization: `Bearer ${await service.token('alice')}` },
      // Reads are answered, if only with a refusal, within this time.
      signal: AbortSignal.timeout(2000),
    })
    assert.equal(read.status, 503)
    assert.equal(((await read.json()) as { error: string }).error, 'unavailable')
    assert.equal((await alice.get('/health')).status, 200)
    await waitFor('it says so', async () => (await alice.get('/ready')).status === 503)
  }

  test('a stream stays open, and tells the end', async () => {
    service.entry('media').signal('SIGSTOP')
    const { body } = await alice.create(CREATE, { image: await base64() })
    const id = body.data.task_id
    const headers = { authorization: `Bearer ${await service.token('alice')}` }
    await using stream = await openStream(`${service.baseUrl}/tasks/${id}/stream`, headers)
    assert.equal((await stream.next())?.data['status'], 'CREATED')
    await postgres.server.kill()
    await postgres.server.restart()
    service.entry('media').signal('SIGCONT')
    const events = await stream.rest()
    assert.deepEqual(events.at(-1)?.data, (await alice.get(`${CREATE}/${id}`)).body)
    ids.push(id)
  })

  test('with everything else, and all come back in any order, every task ends once', async () => {
    await createAll(Array.from({ length: 20 }, (_, index) => `everything-${index}`))
    await Promise.all([
      service.entry('media').kill(),
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
