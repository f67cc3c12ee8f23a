import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import type { Readable, Writable } from 'node:stream'
import { test } from 'node:test'

import {
  findProcess,
  isRunning,
  listChildren,
  waitUntilGone,
} from '../../src/local/process-table.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { waitFor } from '../support/wait.ts'

test('a living process is found and has one start time', () => {
  const self = findProcess(process.pid)
  assert.ok(self)
  assert.deepEqual(findProcess(process.pid), self)
  assert.equal(isRunning(self), true)
})

test('a pid with another start time is another process', () => {
  assert.equal(isRunning({ pid: process.pid, startedAt: 'long ago' }), false)
})

test('a child is listed until it has ended', async () => {
  const child = spawn('sleep', ['60'])
  await once(child, 'spawn')
  const found = listChildren(process.pid).find(({ pid }) => pid === child.pid)
  assert.ok(found)
  assert.equal(await waitUntilGone([found], 0), false)
  child.kill('SIGKILL')
  assert.equal(await waitUntilGone([found], PATIENCE_MS), true)
  assert.equal(findProcess(found.pid), undefined)
})

test('a zombie counts as gone', { skip: process.platform !== 'linux' }, async () => {
  // The program the shell turns into never asks for the shell's child, which ends only after that.
  const script = 'head -c 1 <&3 >/dev/null & echo $!; exec sleep 60'
  const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'ignore', 'pipe'] })
  const [output] = (await once(parent.stdio[1] as Readable, 'data')) as [Buffer]
  await waitFor('the shell is another program', async () =>
    (await readFile(`/proc/${parent.pid}/comm`, 'utf8')).startsWith('sleep'),
  )
  const semaphore = parent.stdio[3] as Writable
  semaphore.write('.')
  const zombie = Number(output.toString())
  await waitFor('it is not found', async () => findProcess(zombie) === undefined)
  // It still has its pid: a signal finds it.
  process.kill(zombie, 0)
  parent.kill('SIGKILL')
})
