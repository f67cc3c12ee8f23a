import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import { startService } from '../support/service.ts'
import type { Role, Service } from '../support/service.ts'
import { temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import { makeRandom } from './random.ts'
import { makeRegistryClient } from './registry-client.ts'
import type { RegistryClient } from './registry-client.ts'
import { assertNothingLeft, assertVersionWorkflows, assertVersions } from './registry-ledger.ts'

const VERSIONS = Number(process.env['VERSIONS'] ?? 10)
const SEEDS = (process.env['SEEDS'] ?? '1').split(',').map(Number)
const LANES = 6
/** Kills of each process: one in ten versions, and two at least. */
const KILLS = Math.max(2, Math.round(VERSIONS / 10))
/** A busy machine takes ten times as long to start a process. */
const DEADLINE_MS = 120_000
const ROLES: Role[] = ['api', 'core', 'media']

const killAtRandom = (seed: number): void => {
  let service: Service
  let client: RegistryClient
  const random = makeRandom(seed)
  const sent = new Map<string, Buffer>()
  /** Publications and uploads that were answered. */
  let answered = 0
  /** What goes on when something has failed would outlive the test. */
  const failed = new AbortController()

  before(async () => {
    // A busy machine may keep a worker from its heartbeat for a second, and a check has five tries.
    service = await startService({ env: { HEARTBEAT_SECONDS: '3' } })
    client = await makeRegistryClient(service)
  })
  after(() => service.stop())

  /** Publishes and uploads as a client does that comes again after a broken connection, and some without need. */
  const publishOne = async (number: number, again: boolean): Promise<void> => {
    const nodeId = `node-${number}`
    const bytes = makeZip(randomBytes(2000 + number), 'pack/data.bin')
    const { id, signedUrl } = await client.publishUntilAnswered(nodeId)
    if (again) assert.equal((await client.publishUntilAnswered(nodeId)).id, id, 'the same version')
    answered += 1
    await client.uploadUntilTaken(signedUrl, bytes)
    if (again) await client.uploadUntilTaken(signedUrl, bytes)
    answered += 1
    sent.set(id, bytes)
  }

  const publishAll = async (): Promise<void> => {
    const again = Array.from({ length: VERSIONS }, () => random() < 0.3)
    let next = 0
    const lane = async (): Promise<void> => {
      while (next < VERSIONS && !failed.signal.aborted) {
        const number = next++
        await publishOne(number, again[number] ?? false)
      }
    }
    await Promise.all(Array.from({ length: LANES }, lane))
  }

  interface Kill {
    role: Role
    /** So many answers came before. */
    after: number
  }

  /** Who is killed when, spread over the whole run. */
  const planKills = (): Kill[] =>
    ROLES.flatMap((role) => Array.from({ length: KILLS }, () => role))
      .map((role) => ({ role, after: Math.floor(random() * (2 * VERSIONS - LANES)) }))
      .toSorted((a, b) => a.after - b.after)

  /** One after the other for each role; the roles do not wait for each other. */
  const killAll = async (kills: readonly Kill[]): Promise<void> => {
    for (const { role, after } of kills) {
      await waitFor(
        `${after} answers`,
        () => Promise.resolve(answered >= after || failed.signal.aborted),
        DEADLINE_MS,
      )
      if (failed.signal.aborted) return
      await service.entry(role).kill()
      await service.start(role)
    }
  }

  const orFail = (doing: Promise<void>): Promise<void> =>
    doing.catch((error: unknown) => {
      failed.abort()
      throw error
    })

  test(`leave ${VERSIONS} versions Active, each once and with its archive`, async () => {
    const kills = planKills()
    const doings = [
      publishAll(),
      ...ROLES.map((role) => killAll(kills.filter((kill) => kill.role === role))),
    ]
    const ended = await Promise.allSettled(doings.map(orFail))
    const reasons = ended.flatMap((end): unknown[] =>
      end.status === 'rejected' ? [end.reason] : [],
    )
    assert.deepEqual(reasons, [])
    assert.equal(sent.size, VERSIONS)
    await assertVersions(service, sent)
    await assertVersionWorkflows(service, temporalAddress(), [...sent.keys()])
    await assertNothingLeft(service)
  })
}

describe('api and workers that are killed at random', () => {
  for (const seed of SEEDS) describe(`with the seed ${seed}`, () => killAtRandom(seed))
})
