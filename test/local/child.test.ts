import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { startChild, untilReady } from '../../src/local/child.ts'
import type { ChildOptions } from '../../src/local/child.ts'
import { isRunning } from '../../src/local/process-table.ts'
import { useFolder } from '../support/folder.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { waitFor } from '../support/wait.ts'

describe('a child process', () => {
  const folder = useFolder()
  const options = (script: string, more: Partial<ChildOptions> = {}): ChildOptions => ({
    name: 'dummy',
    command: 'sh',
    args: ['-c', script],
    env: process.env,
    cwd: folder,
    stopSignal: 'SIGTERM',
    deathSignal: 'SIGKILL',
    stopMs: PATIENCE_MS,
    logPath: join(folder, 'dummy.log'),
    ...more,
  })

  test('is ended by its stop signal', async () => {
    const child = await startChild(options('exec sleep 60'))
    assert.equal(isRunning(child.id), true)
    await child.stop()
    assert.deepEqual(await child.exited, { code: null, signal: 'SIGTERM' })
    assert.equal(isRunning(child.id), false)
  })

  test('that takes no notice of its stop signal is killed', async () => {
    const lines: string[] = []
    const script = 'trap "" TERM; echo trapped; while :; do sleep 1; done'
    const onLine = (line: string): void => void lines.push(line)
    const child = await startChild(options(script, { stopMs: 100, onLine }))
    await waitFor('the trap is set', async () => lines.length > 0)
    await child.stop()
    assert.deepEqual(await child.exited, { code: null, signal: 'SIGKILL' })
  })

  test('that has ended can be stopped and killed again', async () => {
    const child = await startChild(options('exit 3'))
    assert.deepEqual(await child.exited, { code: 3, signal: null })
    await child.stop()
    await child.kill()
  })

  test('writes both of its outputs into its log', async () => {
    const logPath = join(folder, 'outputs.log')
    const child = await startChild(options('echo one; echo two >&2', { logPath }))
    await child.exited
    assert.deepEqual((await child.tail()).toSorted(), ['one', 'two'])
    await waitFor('the log has the line', async () =>
      (await readFile(logPath, 'utf8').catch(() => '')).includes('one\n'),
    )
  })

  test('that ends before it is ready fails with its last lines', async () => {
    const child = await startChild(options('echo cannot open the shop; exit 4'))
    let given: AbortSignal | undefined
    const never = async (signal: AbortSignal): Promise<void> => {
      given = signal
      await new Promise(() => {})
    }
    await assert.rejects(
      untilReady(child, 'dummy', never),
      /^Error: dummy ended with code 4 before it was ready\n {2}cannot open the shop$/,
    )
    assert.equal(given?.aborted, true)
  })

  test('that does not exist is an error that names it', async () => {
    await assert.rejects(async () => {
      const child = await startChild(options('', { command: join(folder, 'nothing'), args: [] }))
      await untilReady(child, 'dummy', async () => await new Promise(() => {}))
    }, /dummy.*(cannot be started|ended with code)[^]*nothing/)
  })
})
