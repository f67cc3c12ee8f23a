import assert from 'node:assert/strict'
import { readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test, type TestContext } from 'node:test'

import { findChildUser } from '../../../src/platform/adapters/child-user.ts'
import { INSPECTOR_ENTRY, startChild } from '../../../src/registry/inspector/child-process.ts'
import type { Inspector } from '../../../src/registry/inspector/inspector.ts'
import { makeLocalInspector } from '../../../src/registry/inspector/local.ts'
import type { LocalInspectorOptions } from '../../../src/registry/inspector/local.ts'
import type { Inspection } from '../../../packages/inspector/src/inspection.ts'
import { useFolder } from '../../support/folder.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { waitFor } from '../../support/wait.ts'
import { writeZip } from '../../support/zip-writer.ts'
import { makeZip } from '../../support/zip.ts'

const dir = useFolder()
let count = 0

const GOOD = 'class Cup: RETURN_TYPES = ("IMAGE",)\nNODE_CLASS_MAPPINGS = {"Kiln Cup": Cup}\n'

/** Takes some seconds, however fast the steps are. */
/** Takes ten seconds of processor on any machine: then the interpreter ends it. */
const SLOW =
  'long = "kiln " * 200000\nfor i in range(999):\n  for j in range(19): x = long.count("n k")\n'

const put = async (bytes: Uint8Array): Promise<string> => {
  count += 1
  const path = join(dir, `${count}.zip`)
  await writeFile(path, bytes)
  return path
}

/** Makes an inspector that is closed with the test. */
const makeInspector = (context: TestContext, options: Partial<LocalInspectorOptions> = {}) => {
  const inspector = makeLocalInspector({ dir, ...options })
  context.after(() => inspector.close())
  return inspector
}

/** Names of the host nodes that were found. */
const namesOf = ({ nodes }: Inspection): string[] => nodes.nodes.map(({ name }) => name)

const inspect = async (inspector: Inspector, source: string, signal?: AbortSignal) =>
  await inspector.inspect({
    path: await put(makeZip(source)),
    nodeId: 'demo',
    dependencies: [],
    signal,
  })

/** Processes of this test that read archives, by their records. */
const listChildren = async (): Promise<number[]> =>
  (await readdir(dir)).flatMap((name) =>
    name.endsWith('.child.json') ? [Number.parseInt(name, 10)] : [],
  )

describe('the inspector', () => {
  test('may read the library that is written in Python', async (t) => {
    const source =
      'from enum import Enum\nclass Id(str, Enum): CUP = "Kiln Cup"\n' +
      'class Cup: RETURN_TYPES = ("IMAGE",)\nNODE_CLASS_MAPPINGS = {Id.CUP.value: Cup}\n'
    assert.deepEqual(namesOf(await inspect(makeInspector(t), source)), ['Kiln Cup'])
  })

  test('reads archives in a process of its own, and the next one in the same', async () => {
    const inspector = makeLocalInspector({ dir })
    try {
      const first = await inspect(inspector, GOOD)
      assert.equal(first.archive.verdict, 'sound')
      assert.deepEqual(namesOf(first), ['Kiln Cup'])
      assert.deepEqual([first.findings.complete, first.findings.counts.high], [true, 0])
      const children = await listChildren()
      await inspect(inspector, GOOD)
      assert.equal(children.length, 1)
      assert.deepEqual(await listChildren(), children)
    } finally {
      await inspector.close()
    }
    assert.deepEqual(await listChildren(), [])
  })

  test('starts it without the settings of its parent', async (t) => {
    await inspect(makeInspector(t), GOOD)
    const [pid] = await listChildren()
    const environment = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')
    assert.doesNotMatch(environment, /PATH=|DATABASE_URL|HOME=/)
  })

  for (const [limit, reason] of [
    // The slow part never ends within it, and all else does; the start of a process does not count.
    [{ runMs: 3000 }, 'budget_time'],
    [{ rssBytes: 60 * 2 ** 20 }, 'budget_memory'],
  ] as const)
    test(`makes ${reason}, twice, the result of what was being read, and makes the rest`, async (t) => {
      const inspector = makeInspector(t, { limits: limit })
      const { archive, nodes, findings } = await inspect(inspector, GOOD + SLOW)
      assert.equal(archive.verdict, 'sound')
      assert.deepEqual([nodes.status, nodes.reason], ['failed', reason])
      // A scan of these few lines takes less than the watch's pause, unless the memory is over at its start.
      assert.equal(findings.scanner, 'kiln')
    })

  test('goes on in another process after a kill from outside', async (t) => {
    const inspector = makeInspector(t)
    await inspect(inspector, GOOD)
    const [pid] = await listChildren()
    process.kill(Number(pid), 'SIGKILL')
    assert.deepEqual(namesOf(await inspect(inspector, GOOD)), ['Kiln Cup'])
  })

  test('ends the process with the signal, and throws its reason', async (t) => {
    const reason = new Error('enough')
    const stop = new AbortController()
    const endless = 'while True: pass\n'.repeat(2000)
    const running = inspect(makeInspector(t), GOOD + endless, stop.signal)
    await waitFor('a process', async () => (await listChildren()).length > 0)
    stop.abort(reason)
    await assert.rejects(running, reason)
    assert.deepEqual(await listChildren(), [])
  })

  test('has a long section before it begins the next, and keeps it when that one fails', async () => {
    const names = '{f"Kiln {i}": Cup for i in range(4000)}'
    const source = `class Cup: RETURN_TYPES = (); DESCRIPTION = "kiln " * 50\nNODE_CLASS_MAPPINGS = ${names}\n`
    const unread = Array.from({ length: 40_000 }, (_, n) => `x${n} = [f(${n}) for f in (a, b)]\n`)
    const path = await put(
      writeZip([
        { name: '__init__.py', data: source },
        { name: 'unread.py', data: unread.join(''), method: 8 },
      ]),
    )
    const limits = { rssBytes: 2 ** 29, runMs: PATIENCE_MS, heapMegabytes: 384 }
    const child = await startChild(dir, limits)
    const notifyChange: string[] = []
    const order = { path, nodeId: 'demo', dependencies: [], skip: [] }
    const { end } = await child.run(order, ({ kind, ...rest }) => {
      notifyChange.push(`${kind} ${'section' in rest ? rest.section : ''}`)
      if (notifyChange.at(-1) === 'begin findings') void child.kill()
    })
    assert.equal(end, 'crashed')
    assert.deepEqual(notifyChange.slice(-2), ['section nodes', 'begin findings'])
  })

  test('reads as another user where this process is root', async (t) => {
    const needed = { programs: [process.execPath], files: [INSPECTOR_ENTRY] }
    const user = await findChildUser(dir, needed)
    if (user === undefined) return t.skip('this process is not root')
    assert.deepEqual(namesOf(await inspect(makeInspector(t, { user }), GOOD)), ['Kiln Cup'])
    const [pid] = await listChildren()
    assert.equal((await stat(`/proc/${pid}`)).uid, user.uid)
  })

  test('reports a missing file as an error of this machine', async (t) => {
    const gone = { path: join(dir, 'gone.zip'), nodeId: 'demo', dependencies: [] }
    await assert.rejects(makeInspector(t).inspect(gone), { code: 'ENOENT' })
  })
})
