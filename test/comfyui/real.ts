import assert from 'node:assert/strict'
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'

import { withDeathSignal } from '../../src/local/child.ts'
import { secondsSince } from '../../src/local/console.ts'
import { findPort } from '../../src/local/port.ts'
import { ROOT } from '../../src/local/root.ts'
import { ENGINE_SOON } from '../faults/calls.ts'
import { assertLedger } from '../faults/ledger.ts'
import { listOf, makeClient } from '../support/client.ts'
import { withKept } from '../support/keep.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { base64 } from '../support/pictures.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'

interface RealFleet {
  /** A checkout of ComfyUI, with its packages in `venv`. */
  checkout: string
  say(line: string): void
}

const TASKS = 60
const SECONDS = 2
/** Time for which an instance stands still: longer than its silence is noticed, shorter than it is given up. */
const STOPPED_MS = 10_000
const FOLDERS = ['input', 'output', 'temp', 'user']
const TEMPLATE = {
  1: { class_type: 'LoadImage', inputs: { image: 'in.png' }, _meta: { title: 'kiln:image' } },
  2: { class_type: 'KilnFault', inputs: { image: ['1', 0], mode: 'steps', seconds: SECONDS } },
  9: {
    class_type: 'SaveImage',
    inputs: { images: ['2', 0], filename_prefix: 'kiln' },
    _meta: { title: 'kiln:result' },
  },
}

/**
 * Has two instances of a real ComfyUI render sixty tasks while each is killed and stopped in turn and the core worker is
 * killed twice. Asserts that each task is completed once, that none was rendered twice but those of instances that were
 * killed, and that nothing of callers is left on their disks.
 */
export const runReal = async ({ checkout, say }: RealFleet): Promise<void> =>
  await withKept(async (keep) => {
    const folder = await mkdtemp(join(tmpdir(), 'kiln-real-'))
    keep({ stop: () => rm(folder, { recursive: true, force: true }) })
    await mkdir(join(folder, 'templates/custom'), { recursive: true })
    await writeFile(join(folder, 'templates/custom/slow.json'), JSON.stringify(TEMPLATE))
    await mkdir(join(checkout, 'custom_nodes/kiln_faults'), { recursive: true })
    await cp(
      join(ROOT, 'test/support/comfyui/kiln_faults.py'),
      join(checkout, 'custom_nodes/kiln_faults/__init__.py'),
    )
    const instances = [
      await startInstance(checkout, join(folder, 'gpu1')),
      await startInstance(checkout, join(folder, 'gpu2')),
    ] as const
    for (const instance of instances) keep({ stop: instance.kill })
    const service = keep(
      await startService({
        roles: ['api', 'core'],
        env: {
          ...ENGINE_SOON,
          COMFYUI_URLS: instances.map(({ url }, index) => `gpu${index + 1}=${url}`).join(),
          COMFYUI_TEMPLATES: join(folder, 'templates'),
        },
      }),
    )
    const { sql } = service.database
    const client = makeClient(service.baseUrl, await service.token('alice'))
    const start = Date.now()
    const image = await base64()
    const ids: string[] = []
    await waitFor(
      'it is a kind',
      async () => listOf(await client.get('/templates'), 'templates').length > 0,
      10 * PATIENCE_MS,
    )
    while (ids.length < TASKS)
      ids.push((await client.create('/templates/slow/tasks', { image })).body.data.task_id)
    const untilDone = (tasks: number): Promise<true> =>
      waitFor(
        `${tasks} are done`,
        async () => (await sql`select from task where ended_at is not null`).count >= tasks,
        20 * PATIENCE_MS,
      )
    const [first, second] = instances
    const killCore = async (): Promise<void> => {
      await service.entry('core').kill()
      await service.start('core')
    }
    const faults: (() => Promise<void>)[] = [
      first.restart,
      second.stand,
      killCore,
      second.restart,
      first.stand,
      killCore,
    ]
    for (const [index, fault] of faults.entries()) {
      await untilDone((index + 1) * 8)
      await fault()
    }
    await untilDone(TASKS)
    const tasks = await assertLedger(service, ids)
    say(`${tasks.length} tasks ended in ${secondsSince(start)}`)
    assert.deepEqual(
      tasks.filter(({ error_code: code }) => code !== null),
      [],
    )
    const isClean = async () =>
      (await sql`select from placement where cleaned_at is null`).count < 1
    await waitFor('instances are cleaned', isClean, 5 * PATIENCE_MS)
    const placements = await sql<{ state: string; detail: string; count: number }[]>`
      select state, coalesce(detail, '') as detail, count(*)::integer as count
      from placement group by 1, 2 order by 3 desc
    `
    for (const { state, detail, count } of placements)
      say(`  ${count} placements ${state} ${detail}`)
    const rendered = instances.reduce((sum, { ended }) => sum + ended(), 0)
    const lost = placements.reduce(
      (sum, { state, count }) => sum + Number(state !== 'done' && count),
      0,
    )
    say(`  ${rendered} renders to their end, ${lost} placements of instances that were killed`)
    assert.ok(rendered <= TASKS + lost, 'rendered twice')
    assert.ok(lost <= 4, 'more placements are lost than two kills of instances meet')
    assert.deepEqual((await Promise.all(instances.map(({ left }) => left()))).flat(), [])
  })

/** Starts an instance on a port of its own whose files are in a folder, and waits until it responds. */
const startInstance = async (checkout: string, folder: string) => {
  for (const name of FOLDERS) await mkdir(join(folder, name), { recursive: true })
  const port = String(await findPort())
  const url = `http://127.0.0.1:${port}`
  const places = FOLDERS.flatMap((name) => [`--${name}-directory`, join(folder, name)])
  const python = join(checkout, 'venv/bin/python')
  const args = [
    'main.py',
    '--cpu',
    '--listen',
    '127.0.0.1',
    '--port',
    port,
    ...places,
    '--disable-all-custom-nodes',
    '--whitelist-custom-nodes',
    'kiln_faults',
    '--database-url',
    `sqlite:///${join(folder, 'comfyui.db')}`,
  ]
  let child: ChildProcess
  let rendered = 0
  const start = async (): Promise<void> => {
    const [program, ...rest] = withDeathSignal('SIGKILL', [python, ...args])
    child = spawn(program, rest, { cwd: checkout, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr])
      if (stream)
        createInterface({ input: stream }).on('line', (line) => {
          if (line.startsWith('Prompt executed')) rendered += 1
        })
    await waitFor(
      'an instance responds',
      async () => (await fetch(`${url}/queue`).catch(() => undefined))?.ok,
      10 * PATIENCE_MS,
    )
  }
  const kill = async (): Promise<void> => {
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
  }
  await start()
  return {
    url,
    kill,
    /** Prompts that have run to their end. */
    ended: () => rendered,
    async restart() {
      await kill()
      await start()
    },
    /** Stands still for a while. */
    async stand() {
      child.kill('SIGSTOP')
      await sleep(STOPPED_MS)
      child.kill('SIGCONT')
    },
    /** Files of callers that still have bytes. */
    async left(): Promise<string[]> {
      const entries = await Promise.all(
        ['input', 'output', 'temp'].map(
          async (name) =>
            await readdir(join(folder, name), { recursive: true, withFileTypes: true }),
        ),
      )
      const files = entries.flat().filter((entry) => entry.isFile())
      const sizes = await Promise.all(
        files.map(async ({ parentPath, name }) => {
          const path = join(parentPath, name)
          return (await stat(path)).size > 0 ? path : ''
        }),
      )
      return sizes.filter(Boolean)
    },
  }
}
