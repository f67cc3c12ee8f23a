import type { Received } from '../support/receiver.ts'
import { isBad, promptOf, REQUESTS } from './bulk.ts'
import type { BulkLine, BulkResult, EndedBulk } from './bulk.ts'
import { checkRuns, FAULT_CODES, isSuccess, readNotification } from './ledgers.ts'
import type { Ledgers, Report } from './ledgers.ts'
import type { TaskRow } from './rows.ts'

type BulkLedgers = Pick<Ledgers, 'bulks' | 'received' | 'rows' | 'secrets' | 'mayFail'>

/** Checks what batches have made and what operations have done, by their lines and by the rows. */
export const checkBulks = (ledgers: BulkLedgers, report: Report): void => {
  const tasks = new Map(ledgers.rows.tasks.map((task) => [task.id, task]))
  for (const bulk of ledgers.bulks) {
    const { batch, operation } = bulk.order
    for (const { ids } of [batch, operation])
      report('I2', ids.size <= 1, `${bulk.order.key} has ${ids.size} ids`)
    checkBatch(bulk, tasks, { ...ledgers, report })
    if (bulk.operation) checkOperation(bulk, bulk.operation, { tasks, report })
    checkEnd(bulk, ledgers, report)
  }
  for (const task of tasks.values()) checkDeleted(task, ledgers.rows.files, report)
}

/** Ids of the tasks that batches have made. */
export const idsOf = (bulks: readonly BulkResult[]): string[] =>
  bulks.flatMap(({ batch }) => batch.lines.flatMap(({ task_id: id }) => id ?? []))

const stateOf = (task: TaskRow): string => {
  if (isSuccess(task)) return 'done'
  return isCancelled(task) ? 'cancelled' : 'failed'
}

/** Codes of both families. */
const CANCELLED = new Set(['cancelled', 'UserCancelled'])
const isCancelled = ({ error_code: code }: TaskRow): boolean => CANCELLED.has(code ?? '')

const countStates = (lines: readonly BulkLine[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { state } of lines) counts[state] = (counts[state] ?? 0) + 1
  return counts
}

/** Checks that its counts, without zeros, are those of its lines, one for each item. */
const checkCounts = (key: string, { total, counts, lines }: EndedBulk, report: Report): void => {
  const places = lines.map(({ index }) => index)
  const isWhole = total === lines.length && places.every((place, index) => place === index)
  report('I13', isWhole, `${key} has ${lines.length} lines of ${total}`)
  const [shown, found] = [counts, countStates(lines)].map((of) =>
    Object.entries(of)
      .filter(([, count]) => count > 0)
      .map(([state, count]) => `${state} ${count}`)
      .toSorted()
      .join(),
  )
  report('I13', shown === found, `${key} counts ${shown}, its lines are ${found}`)
}

interface Checking {
  tasks: ReadonlyMap<string, TaskRow>
  report: Report
}

/** Each good request has one task, in their order, and each bad one none; only a batch that was stopped lacks some. */
const checkBatch = (
  { order: { key, next, batch: made, isOfFile }, batch }: BulkResult,
  tasks: Checking['tasks'],
  { report, rows, mayFail }: BulkLedgers & Pick<Checking, 'report'>,
): void => {
  checkCounts(key, batch, report)
  // One that is stopped before its file is read has none.
  const isUnread = isOfFile && next === 'stop' && batch.total === 0
  report('I13', batch.total === REQUESTS || isUnread, `${key} has ${batch.total} requests`)
  const [id = ''] = made.ids
  report('I1', rows.workflows.get(`run-batch/${id}`) === 1, `workflows of ${key}`)
  let before = -Infinity
  for (const { index, state, task_id: taskId } of batch.lines) {
    const what = `request ${index} of ${key} is ${state}`
    if (isBad(index)) {
      const isRejected = taskId === undefined && (state === 'rejected' || next === 'stop')
      report('I13', isRejected, what)
      continue
    }
    if (taskId === undefined) {
      report('I13', state === 'cancelled' && next === 'stop', what)
      continue
    }
    const task = tasks.get(taskId)
    report('I13', task !== undefined && state === stateOf(task), `${what}, its task is not`)
    if (!task) continue
    const prompt = task.isDeleted ? null : promptOf(key, index)
    report('I13', task.prompt === prompt, `${what}, its task is that of ${task.prompt}`)
    report('I13', task.createdAt > before, `${what}, and made before an earlier one`)
    before = task.createdAt
    const isFaulty = mayFail && FAULT_CODES.has(task.error_code ?? '')
    report('I1', state === 'done' || isFaulty || (state === 'cancelled' && next !== 'none'), what)
    checkRuns({ what, task, isCancelled: state === 'cancelled' }, rows, report)
  }
}

/** Checks that all that lines say was done has been, and nothing else; tasks that were made later are not touched. */
const checkOperation = (
  { order, batch }: BulkResult,
  operation: EndedBulk,
  { tasks, report }: Checking,
): void => {
  const { key, next, stoppedAt } = order
  const name = `the operation on ${key}`
  checkCounts(name, operation, report)
  if (stoppedAt)
    report(
      'I14',
      Object.entries(stoppedAt).every(([state, count]) => operation.counts[state] === count),
      `${name} went on after it was stopped`,
    )
  const lines = new Map(operation.lines.map((line) => [line.task_id, line.state]))
  report('I14', lines.size === operation.lines.length, `${name} has a task twice`)
  const own = new Set(idsOf([{ order, batch }]))
  for (const id of lines.keys()) report('I14', own.has(id ?? ''), `${name} has ${id}, a stranger`)
  for (const id of own) {
    const task = tasks.get(id)
    if (!task) continue
    const state = lines.get(id)
    const isDone = next === 'delete' ? task.isDeleted : isCancelled(task)
    report('I14', isDone === (state === 'done'), `${name}: ${id} is ${state} by its line alone`)
    const isLate = task.createdAt > Date.parse(operation.created_at) + 1
    report('I14', !isLate || state === undefined, `${name} has ${id}, which was made later`)
    if (next !== 'abort') report('I14', state !== 'not_done', `${name} left ${id}`)
  }
}

/** Checks that nothing is left of what a deleted task held. */
const checkDeleted = (task: TaskRow, files: ReadonlyMap<string, string>, report: Report): void => {
  if (!task.isDeleted) return
  const { id, isPurged, prompt, labels } = task
  report('I14', isPurged, `${id} is deleted, and its row says that its files are there`)
  report('I14', prompt === null && labels === null, `${id} is deleted, and its texts are there`)
  for (const key of files.keys())
    report('I14', !/^(inputs|results)\//.test(key) || !key.includes(id), `${key} is left`)
}

/** Checks that the end of a batch came, signed, with one id, and with the counts that it has. */
const checkEnd = (
  { order: { key, owner, batch: made }, batch }: BulkResult,
  { received, secrets, rows }: BulkLedgers,
  report: Report,
): void => {
  const requests = received.filter(({ path }) => path === `/b/${key}`)
  const ids = new Set(requests.map(({ headers }) => headers['webhook-id']))
  report('I4', ids.size === 1, `the end of ${key} came with ${ids.size} ids`)
  for (const request of requests) report('I4', isEnd(request), `${key} received another end`)
  for (const file of rows.files.keys())
    for (const id of made.ids)
      report('I13', !file.startsWith(`batches/${id}/`), `${key} has ended, and ${file} is left`)

  function isEnd(request: Received): boolean {
    const { type, data } = readNotification(request, secrets.get(owner) ?? '') ?? {}
    const isOwn = made.ids.has(String(data?.['batch_id']))
    const counts = JSON.stringify(data?.['counts'])
    return type === 'batch.ended' && isOwn && counts === JSON.stringify(batch.counts)
  }
}
