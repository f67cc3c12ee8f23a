import assert from 'node:assert/strict'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { Client as TemporalClient } from '@temporalio/client'

import { ROOT } from '../../src/local/root.ts'
import { findPort } from '../../src/local/port.ts'
import type { Client } from '../support/client.ts'
import { isLong } from '../support/long.ts'
import { metricsUrl } from '../support/metrics.ts'
import { startPrometheus, WITHOUT_PROMETHEUS } from '../support/prometheus.ts'
import { findProgram } from '../support/run-program.ts'
import type { Prometheus } from '../support/prometheus.ts'
import { startService, type Service } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { CREATE, clientOf, createTask } from './calls.ts'
import { startOwnTemporal, type OwnTemporal } from './servers.ts'

/** The rules with seconds in place of minutes. A disk that is full is one with less than all disks have. */
const shorten = (rules: string): string =>
  rules
    .replaceAll(/for: \d+m/g, 'for: 2s')
    .replaceAll(/\[\d+m\]/g, '[10s]')
    .replaceAll(/(oldest_seconds(?:\{[^}]*\})?\)) > \d+/g, '$1 > 3')
    .replace('< 5e9', '< 1e18')

const program = findProgram('prometheus')
const skip = program === undefined ? WITHOUT_PROMETHEUS : !isLong && 'only with --long'

describe('an alert fires when', { skip }, () => {
  let temporal: OwnTemporal
  let service: Service
  let alice: Client
  let prometheus: Prometheus
  let mediaPort = 0

  const hostOf = (role: 'api' | 'core'): string => new URL(metricsUrl(service.entry(role))).host
  /** Waits until each of them has fired; `act` keeps the condition up. */
  const fires = async (names: string[], act?: () => Promise<unknown>) => {
    const left = new Set(names)
    await waitFor(`${names.join()} fire`, async () => {
      await act?.()
      for (const name of await prometheus.firing()) left.delete(name)
      return left.size === 0
    }).catch((error: unknown) => {
      throw new Error(`${[...left].join()} did not fire`, { cause: error })
    })
  }
  const isSilent = async (name: string) =>
    await waitFor(`${name} is silent`, async () => !(await prometheus.firing()).includes(name))

  before(async () => {
    temporal = await startOwnTemporal()
    mediaPort = await findPort()
    service = await startService({
      roles: ['api', 'core'],
      env: {
        TEMPORAL_ADDRESS: temporal.server.address,
        METRICS_PORT: '0',
        OVERRIDE_RECONCILE_AFTER_SECONDS: '2',
      },
    })
    alice = await clientOf(service)
    prometheus = await startPrometheus({
      program: program ?? '',
      jobs: {
        'kiln-api': [hostOf('api')],
        'kiln-core': [hostOf('core')],
        'kiln-media': [`127.0.0.1:${mediaPort}`],
      },
      rules: shorten(await readFile(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8')),
      intervalSeconds: 2,
    })
  })
  after(async () => {
    await prometheus?.stop()
    await service?.stop()
    await temporal?.stop()
  })

  test('no media worker runs, and one workflow is ended by hand', async () => {
    // From now on it sees what grows.
    await fires(['KilnDown'])
    await createTask(alice)
    const ended = await createTask(alice)
    const { workflow } = new TemporalClient({ connection: temporal.connection })
    const handle = workflow.getHandle(`image-task/${ended}`)
    await waitFor('the workflow runs', () => handle.terminate().catch(() => false))
    await fires(['KilnNoWorkers', 'KilnQueueSlow', 'KilnReconciled', 'KilnStoreFull'])
    await service.start('media', { METRICS_PORT: String(mediaPort) })
    for (const name of ['KilnDown', 'KilnNoWorkers', 'KilnQueueSlow']) await isSilent(name)
  })

  test('tasks fail', async () => {
    await fires(['KilnTasksFail'], async () => {
      const { status } = await alice.post(CREATE, { image: 'http://127.0.0.1:9/a.png' })
      assert.equal(status, 200)
      await sleep(1000)
    })
  })

  test('an api does not get to run', async () => {
    await fires(['KilnLoopBlocked'], async () => {
      service.entry('api').signal('SIGSTOP')
      await sleep(700)
      service.entry('api').signal('SIGCONT')
      await sleep(100)
    })
  })

  test('a table of PostgreSQL is locked', async () => {
    const { sql } = service.database
    const id = await createTask(alice)
    const isOver = new AbortController()
    const lanes = Array.from({ length: 30 }, async () => {
      while (!isOver.signal.aborted) await alice.get(`${CREATE}/${id}`).catch(() => {})
    })
    const lock = sql.begin(async (sql) => {
      await sql`lock table task in access exclusive mode`
      while (!isOver.signal.aborted) await sql`select pg_sleep(0.2)`
    })
    await fires(['KilnPoolExhausted', 'KilnRequestsSlow', 'KilnRequestsFail']).finally(() =>
      isOver.abort(),
    )
    await Promise.all([lock, ...lanes])
  })

  test('an alert fires when no core worker sends webhooks', async () => {
    await service.entry('core').kill()
    const created = await alice.post(CREATE, {
      image: 'http://127.0.0.1:9/a.png',
      webhook_url: 'http://127.0.0.1:9/',
    })
    await alice.post(`${CREATE}/${created.body.data.task_id}/cancel`, {})
    await fires(['KilnDeliveriesBehind'])
  })

  test('Temporal is away', async () => {
    await temporal.server.kill()
    await createTask(alice)
    await fires(['KilnOutboxStuck', 'KilnDependencyDown'])
    await temporal.server.restart()
    await isSilent('KilnOutboxStuck')
  })

  test('the store cannot be written', async () => {
    await rename(service.storagePath, `${service.storagePath}-away`)
    await writeFile(service.storagePath, '')
    await fires(['KilnStoreFails', 'KilnDependencyDown'])
    await rm(service.storagePath)
    await rename(`${service.storagePath}-away`, service.storagePath)
    await isSilent('KilnDependencyDown')
  })
})
