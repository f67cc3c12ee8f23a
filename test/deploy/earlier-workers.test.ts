import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'

import { listEarlierWorkers } from '../../src/compose/earlier-workers.ts'
import { VERSION } from '../../src/platform/domain/release.ts'
import { makeLog } from '../../src/platform/log.ts'
import { readTemporal } from '../../src/platform/settings/temporal.ts'
import { makeJobs } from '../../src/platform/temporal/client.ts'
import { openTemporal } from '../../src/platform/temporal/connection.ts'
import { spawnEntry } from '../support/entry.ts'
import { useService } from '../support/service.ts'
import { temporalSettings } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'

describe('workers of an earlier release', () => {
  const service = useService({ roles: ['core', 'media'] })
  const target = readTemporal(temporalSettings())
  const connection = openTemporal(target)
  after(() => connection.close())

  const list = async (release: string, ...roles: string[]): Promise<string[]> => {
    const { sql, taskQueue } = service
    const log = makeLog('test', 'silent')
    const jobs = makeJobs({ connection, namespace: target.namespace, sql, log, publicUrl: '' })
    const found = await listEarlierWorkers(jobs, sql, { taskQueue, roles, release })
    return found.map((identity) => identity.replace(/@.*/, '')).toSorted()
  }
  const until = (roles: string[], release: string, ...asked: string[]): Promise<boolean> =>
    waitFor(
      `${asked.join()} are ${roles.join()}`,
      async () => (await list(release, ...asked)).join() === roles.join(),
    )

  test('are those that live, of the roles that go before', async () => {
    await until(['core', 'media'], '99.0.0', 'core', 'media')
    assert.deepEqual(await list('99.0.0', 'core'), ['core'])
    assert.deepEqual(await list(VERSION, 'core', 'media'), [])
    // As when a release is rolled back.
    assert.deepEqual(await list('0.0.9', 'core', 'media'), [])
    const isBuild = VERSION.includes('-')
    // Its release, or another build of it.
    assert.deepEqual(await list(VERSION.replace(/[-+].*/, ''), 'core'), isBuild ? ['core'] : [])
    assert.deepEqual(await list(`${VERSION}.other`, 'core'), isBuild ? ['core'] : [])
    service.entry('core').signal('SIGTERM')
    await until(['media'], '99.0.0', 'core', 'media')
  })

  test('are waited for by a program, which ends where there are none', async () => {
    const entry = spawnEntry({
      path: 'src/await-workers.ts',
      args: ['core', 'media'],
      env: { ...service.settings, WORKER_ROLE: 'media' },
    })
    assert.equal(await entry.end(), '0', entry.log.join('\n'))
    assert.deepEqual(entry.log, [])
  })
})
