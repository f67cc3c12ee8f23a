import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, test } from 'node:test'

import { StackRunningError, claimDataFolder } from '../../src/local/claim.ts'
import type { StackState } from '../../src/local/claim.ts'
import { findProcess, isRunning, signalProcess } from '../../src/local/process-table.ts'
import type { ProcessId } from '../../src/local/process-table.ts'
import { useFolder } from '../support/folder.ts'
import { waitFor } from '../support/wait.ts'

const GONE: ProcessId = { pid: process.pid, startedAt: 'in another boot' }

describe('a claim on a data folder', () => {
  let dataDir: string
  let said: string[]
  const children: ChildProcess[] = []
  const root = useFolder(() => children.forEach((child) => child.kill('SIGKILL')))
  const say = (line: string): void => {
    said.push(line)
  }

  const startSleeper = async (): Promise<ProcessId> => {
    const child = spawn('sleep', ['60'], { detached: true })
    children.push(child)
    await once(child, 'spawn')
    return findProcess(child.pid ?? 0) ?? GONE
  }
  const leave = async (processes: StackState['processes']): Promise<void> => {
    const state: StackState = { supervisor: GONE, addresses: {}, processes }
    await writeFile(join(dataDir, 'stack.json'), JSON.stringify(state))
  }

  beforeEach(async () => {
    said = []
    dataDir = await mkdtemp(join(root, 'data-'))
  })

  test('is rejected beside a living stack, with its addresses', async () => {
    const claim = await claimDataFolder(dataDir, say)
    await claim.record({ addresses: { api: 'http://127.0.0.1:8080' }, processes: [] })
    await assert.rejects(claimDataFolder(dataDir, say), (error: Error) => {
      assert.ok(error instanceof StackRunningError)
      assert.match(error.message, /api +http:\/\/127\.0\.0\.1:8080/)
      return true
    })
    await claim.release()
    await (await claimDataFolder(dataDir, say)).release()
    assert.deepEqual(await readdir(dataDir), [])
  })

  test('goes to one of several at once', async () => {
    const claims = await Promise.allSettled(
      [1, 2, 3, 4].map(async () => await claimDataFolder(dataDir, say)),
    )
    assert.equal(claims.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  test('goes to one of two that wait for what a killed stack left', async () => {
    const left = await startSleeper()
    await leave([{ name: 'api', ...left, stopSignal: 'SIGCONT' }])
    const claims: Promise<unknown>[] = []
    // One after another, so that they do not check at the same moments.
    while (claims.length < 2) {
      claims.push(claimDataFolder(dataDir, say))
      await waitFor('it waits', async () => said.length === claims.length)
    }
    signalProcess(left.pid, 'SIGKILL')
    const settled = await Promise.allSettled(claims)
    assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1)
  })

  test('ends what a killed stack left, the last started first', async () => {
    const [postgres, api] = [await startSleeper(), await startSleeper()]
    await leave([
      { name: 'postgres', ...postgres, stopSignal: 'SIGINT' },
      { name: 'api', ...api, stopSignal: 'SIGTERM' },
    ])
    const claim = await claimDataFolder(dataDir, say)
    assert.deepEqual(said, [
      `ending api (pid ${api.pid}), which an earlier start left`,
      `ending postgres (pid ${postgres.pid}), which an earlier start left`,
    ])
    assert.deepEqual([isRunning(api), isRunning(postgres)], [false, false])
    await claim.release()
  })

  test('leaves a process alone that only has the pid', async () => {
    const other = await startSleeper()
    await leave([{ name: 'api', pid: other.pid, startedAt: 'earlier', stopSignal: 'SIGTERM' }])
    await claimDataFolder(dataDir, say)
    assert.equal(isRunning(other), true)
    assert.deepEqual(said, [])
  })

  test('takes the place of a state file that is cut off', async () => {
    await writeFile(join(dataDir, 'stack.json'), '{"supervisor":')
    await claimDataFolder(dataDir, say)
    const state = JSON.parse(await readFile(join(dataDir, 'stack.json'), 'utf8')) as StackState
    assert.equal(state.supervisor.pid, process.pid)
  })
})
