import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'

import { ROOT } from '../../src/local/root.ts'
import type { FaultName } from './faults.ts'

const run = promisify(execFile)

/** A fault that somebody could write: text of a source file, what stands there instead, and what must be found by it. */
export interface Mistake {
  file: string
  find: string
  put: string
  invariants: readonly string[]
  /** Faults under which it shows; kills, stops and resets when absent. */
  faults?: readonly FaultName[]
}

/** Each must be found within one run, or the harness could not find the like of it. */
export const MISTAKES = {
  'every twentieth start is dropped': {
    file: 'src/platform/db/outbox.ts',
    find: "  const start = entry.kind === 'signal' ? undefined : entry\n",
    put: "  const start = entry.kind === 'signal' ? undefined : entry\n  if (start && Math.random() < 0.05) return undefined\n",
    invariants: ['I1'],
  },
  'a move asks neither for the state before nor for the fence': {
    file: 'src/tasks/db/task-transition.ts',
    find: '        and status = any(${[...from]})\n        and (${fence}::integer is null or fence = ${fence}::integer)\n',
    put: '        and (status = any(${[...from]}) or (${fence}::integer is null or true))\n',
    invariants: ['I3'],
  },
  'an event is sent under another id when it is sent again': {
    file: 'activities/events/send-attempt.ts',
    find: 'id: job.eventId, timestamp',
    put: 'id: begun.number > 1 ? crypto.randomUUID() : job.eventId, timestamp',
    invariants: ['I4', 'I5'],
  },
  'a refund is made twice': {
    file: 'src/tasks/db/end-task.ts',
    find: "  if (to === 'failed' && takesSlots) await refundTask(sql, end.id)\n",
    put: "  if (to === 'failed' && takesSlots) await refundTask(sql, end.id)\n  if (to === 'failed' && takesSlots)\n    await sql`update owner set credits_used = credits_used - 1 where id = ${owner}`\n",
    invariants: ['I6'],
  },
  'a batch begins its file again when it goes on': {
    file: 'src/tasks/db/bulk/bulk-item.ts',
    find: 'next_offset = coalesce(${nextOffset ?? null}::bigint, t.next_offset)',
    put: 'next_offset = coalesce(${nextOffset ?? null}::bigint * 0, t.next_offset)',
    invariants: ['I13'],
  },
  'an operation says that it has cancelled what it could not': {
    file: 'src/tasks/cancel.ts',
    find: 'if (!(await failTask(sql, { id: task.id, family }, end)))',
    put: 'if (!(await failTask(sql, { id: task.id, family }, end)) && audit)',
    invariants: ['I14'],
  },
  'the results of a deleted task stay': {
    file: 'src/tasks/db/task-deletion.ts',
    find: '  await storage.removePrefix(`results/${id}`)\n',
    put: '',
    invariants: ['I14'],
  },
  'a claim ignores a pause': {
    file: 'src/tasks/db/task-transition.ts',
    find: 'task_block(t) as block,',
    put: "nullif(regexp_replace(task_block(t), '^pause:.*', ''), '') as block,",
    invariants: ['I12'],
    faults: ['pause'],
  },
  'the pass forgets every other task': {
    file: 'src/tasks/db/admission.ts',
    find: '      where best.priority = best.top\n',
    put: "      where best.priority = best.top and best.id::text > '8'\n",
    invariants: ['I1'],
    faults: ['pause'],
  },
} as const satisfies Record<string, Mistake>

const LEFT_OUT = new Set(['.git', '.built', 'node_modules', 'test'])

/** Builds this checkout with a mistake, and returns the new folder. Throws when the text is not there exactly once. */
export const buildBroken = async (name: keyof typeof MISTAKES): Promise<string> => {
  const { file, find, put } = MISTAKES[name]
  const folder = await mkdtemp(join(tmpdir(), 'kiln-broken-'))
  const filter = (path: string) => !LEFT_OUT.has(relative(ROOT, path))
  await cp(ROOT, folder, { recursive: true, filter })
  await symlink(join(ROOT, 'node_modules'), join(folder, 'node_modules'))
  const text = await readFile(join(folder, file), 'utf8')
  const parts = text.split(find)
  if (parts.length !== 2) throw new Error(`${file} has ${parts.length - 1} times: ${find}`)
  await writeFile(join(folder, file), parts.join(put))
  await run(process.execPath, ['tools/run.mjs', 'tools/build.ts', '--no-check'], {
    cwd: folder,
    maxBuffer: 2 ** 25,
  })
  return folder
}
