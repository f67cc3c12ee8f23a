import assert from 'node:assert/strict'
import { join } from 'node:path'
import { beforeEach, describe, test } from 'node:test'

import { startChild } from '../../src/local/child.ts'
import type { Running } from '../../src/local/child.ts'
import { isRunning, signalProcess } from '../../src/local/process-table.ts'
import type { ProcessId } from '../../src/local/process-table.ts'
import { makeSupervisor } from '../../src/local/supervisor.ts'
import type { Service, Supervisor } from '../../src/local/supervisor.ts'
import { useFolder } from '../support/folder.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { waitFor } from '../support/wait.ts'

describe('the supervisor', () => {
  const folder = useFolder()
  let lines: string[]
  let running: Map<string, ProcessId>
  let ended: string[]
  let supervisor: Supervisor

  const service = (name: string, script = 'exec sleep 60'): Service => ({
    name,
    launch: async (onSpawn) => {
      const child = await startChild({
        name,
        command: 'sh',
        args: ['-c', script],
        env: process.env,
        cwd: folder,
        stopSignal: 'SIGTERM',
        deathSignal: 'SIGKILL',
        stopMs: PATIENCE_MS,
        logPath: join(folder, `${name}.log`),
      })
      onSpawn(child)
      void child.exited.then(() => ended.push(name))
    },
  })

  beforeEach(() => {
    lines = []
    ended = []
    running = new Map()
    supervisor = makeSupervisor({
      say: (line) => lines.push(line),
      changed: (all: { name: string; running: Running }[]) => {
        running = new Map(all.map((one) => [one.name, one.running.id]))
      },
    })
  })

  test('starts a process that was killed again, and says so', async () => {
    await supervisor.run(service('api'))
    const first = running.get('api')
    assert.ok(first)
    signalProcess(first.pid, 'SIGKILL')
    const second = await waitFor('another process runs', async () => {
      const found = running.get('api')
      return found !== undefined && found.pid !== first.pid && isRunning(found) ? found : undefined
    })
    await waitFor('it is said', async () => lines.length === 2)
    assert.deepEqual(lines, [
      'api was ended by SIGKILL; starting it again in 1 s',
      `api is ready again as process ${second.pid}`,
    ])
    await supervisor.stop([['api']])
    assert.equal(isRunning(second), false)
  })

  test('stops group after group, and starts nothing any more', async () => {
    for (const name of ['postgres', 'temporal', 'worker', 'api'])
      await supervisor.run(service(name))
    await supervisor.stop([['api', 'worker'], ['temporal'], ['postgres']])
    assert.deepEqual(ended.slice(0, 2).toSorted(), ['api', 'worker'])
    assert.deepEqual(ended.slice(2), ['temporal', 'postgres'])
    assert.equal(running.size, 0)
    await assert.rejects(supervisor.run(service('late')), /late is not started/)
    assert.deepEqual(lines, [])
  })

  test('does not restart while it waits to', async () => {
    await supervisor.run(service('api', 'exit 1'))
    await waitFor('the end is noticed', async () => lines.length === 1)
    await supervisor.stop([['api']])
    assert.deepEqual(lines, ['api ended with code 1; starting it again in 1 s'])
  })

  test('ends a stop that waits when everything is to be killed', async () => {
    await supervisor.run(service('api', 'trap "" TERM; while :; do sleep 1; done'))
    const stopped = supervisor.stop([['api']])
    await supervisor.kill()
    await stopped
    assert.deepEqual(ended, ['api'])
  })
})
