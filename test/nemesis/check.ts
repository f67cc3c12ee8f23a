import { IMAGE_TASK_TRANSITIONS } from '../../src/tasks/domain/image/image-task.ts'
import { VIDEO_TASK_TRANSITIONS } from '../../src/tasks/domain/video/video-task.ts'
import { PAYLOAD, type ReceiverKind } from './callers.ts'
import { checkBulks, idsOf } from './check-bulk.ts'
import { checkRuns, FAULT_CODES, isSuccess, readNotification } from './ledgers.ts'
import type { Ledgers, Report, Violation } from './ledgers.ts'
import type { EventRow, Rows, TaskRow, VersionRow } from './rows.ts'
import { SLOTS, type EndedPause } from './world.ts'

/** Everything that does not hold after the last fault has healed, all requests have a response, and all has ended. */
export const check = (ledgers: Ledgers): Violation[] => {
  const { violations, report } = startReport()
  checkOrders(ledgers, report)
  for (const task of ledgers.rows.tasks) {
    violations.push(...checkTask(task))
    checkFiles(task, ledgers.rows, report)
  }
  for (const owner of ledgers.rows.wrongSums) report('I6', false, `a sum of ${owner} is another`)
  checkBulks(ledgers, report)
  checkReads(ledgers, report)
  checkEvents(ledgers, report)
  for (const version of ledgers.rows.versions) checkVersion(version, ledgers.rows, report)
  for (const wrong of ledgers.wrong) report('I9', false, wrong)
  checkCanaries(ledgers, report)
  for (const pause of ledgers.pauses) checkPause(pause, ledgers.rows, report)
  checkSlots(ledgers.rows, report)
  return violations
}

/** Checks that no attempt at a task of the scope began during a pause. */
const checkPause = ({ scope, from, to }: EndedPause, { tasks }: Rows, report: Report): void => {
  for (const { id, engine, kind, attempts } of tasks) {
    if (!['all', `engine:${engine}`, `kind:${kind}`].includes(scope)) continue
    const began = attempts.some((at) => at > from && at < to)
    report('I12', !began, `an attempt at ${id} began while ${scope} was paused`)
  }
}

/** Checks that no owner ever had more videos with a slot than may be. One that is paused gives its slot back. */
const checkSlots = ({ tasks }: Rows, report: Report): void => {
  const changes = tasks
    .flatMap(({ owner, admittedAt, endedAt }) =>
      admittedAt === null || endedAt === null
        ? []
        : [
            { owner, at: admittedAt, by: 1 },
            { owner, at: endedAt, by: -1 },
          ],
    )
    .toSorted((a, b) => a.at - b.at || a.by - b.by)
  const held = new Map<string, number>()
  for (const { owner, by } of changes) {
    const now = (held.get(owner) ?? 0) + by
    held.set(owner, now)
    report('I6', now <= SLOTS, `${owner} had ${now} slots`)
  }
}

const startReport = (): { violations: Violation[]; report: Report } => {
  const violations: Violation[] = []
  const report: Report = (invariant, holds, what) => {
    if (!holds) violations.push({ invariant, what })
  }
  return { violations, report }
}

/** Checks row, events, credits and number of results of one task that has ended. */
export const checkTask = (task: TaskRow): Violation[] => {
  const { violations, report } = startReport()
  checkHistory(task, report)
  checkCredits(task, report)
  const { id, status, results, thumbnail } = task
  const made = countMade(task)
  report('I7', results.length === made, `${id} is ${status} with ${results.length} results`)
  report('I7', (thumbnail !== null) === made > 0, `${id} is ${status} with thumbnail ${thumbnail}`)
  return violations
}

/** Files that a task has made besides its thumbnail. */
const countMade = (task: TaskRow): number =>
  !isSuccess(task) ? 0 : task.family === 'image' ? 1 : 2

const ENDS = new Set(['COMPLETED', 'FAILED', 'success', 'failed'])
const PENDING = 'NodeVersionStatusPending'
const ACTIVE = 'NodeVersionStatusActive'

/** Each order has one id, one row, one workflow and an end; and there is nothing that nobody asked for. */
const checkOrders = ({ orders, bulks, rows, mayFail }: Ledgers, report: Report): void => {
  const tasks = new Map(rows.tasks.map((task) => [task.id, task]))
  const versions = new Map(rows.versions.map((version) => [version.id, version]))
  const known = new Set(idsOf(bulks))
  for (const { key, kind, ids, end } of orders) {
    report('I2', ids.size <= 1, `${key} has ${ids.size} ids`)
    const [id = ''] = ids
    known.add(id)
    if (kind === 'version') {
      report('I1', versions.has(id), `${key} has no row`)
      report('I1', rows.workflows.get(`publish-version/${id}`) === 1, `workflows of ${key}`)
      continue
    }
    const task = tasks.get(id)
    report('I1', task !== undefined, `${key} (${id}) has no row`)
    if (!task) continue
    report('I1', ENDS.has(task.status), `${key} is ${task.status}`)
    const isFaulty = mayFail && FAULT_CODES.has(task.error_code ?? '')
    const allowed = end === 'cancelled' || isFaulty || isSuccess(task) === (end === 'done')
    report('I1', allowed, `${key} was to be ${end} and is ${task.status}`)
    checkRuns({ what: key, task, isCancelled: end === 'cancelled' }, rows, report)
  }
  for (const { id } of [...rows.tasks, ...rows.versions])
    report('I2', known.has(id), `${id} was returned to nobody`)
}

const TRANSITIONS: Record<TaskRow['family'], Record<string, readonly string[]>> = {
  image: { CREATED: [], ...IMAGE_TASK_TRANSITIONS },
  video: { created: [], ...VIDEO_TASK_TRANSITIONS },
}

/** Sequences without a gap from 1, legal transitions, one end, times that never go back. */
const checkHistory = ({ id, family, status, events }: TaskRow, report: Report): void => {
  events.forEach((event, index) => {
    const before = events[index - 1]
    report('I3', event.sequence === index + 1, `${id}: sequence ${event.sequence} at ${index + 1}`)
    const isFirst = before === undefined && event.status.toLowerCase() === 'created'
    const isLegal = before && TRANSITIONS[family][event.status]?.includes(before.status)
    report('I3', isFirst || isLegal === true, `${id}: ${before?.status} to ${event.status}`)
    report('I3', !before || before.at <= event.at, `${id}: event ${event.sequence} is older`)
  })
  report('I3', events.at(-1)?.status === status, `${id} is ${status}, its last event is not`)
  const ends = events.filter((event) => ENDS.has(event.status))
  report('I3', ends.length === 1, `${id} has ${ends.length} ends`)
}

/** Nobody reads of a task what it was before. */
const checkReads = ({ reads, rows }: Ledgers, report: Report): void => {
  const places = new Map(
    rows.tasks.map(({ id, events }) => [id, events.map(({ status }) => status)]),
  )
  const last = new Map<string, number>()
  for (const { id, status } of reads) {
    const place = places.get(id)?.indexOf(status) ?? -1
    report('I3', place >= 0, `${id} was read as ${status}, which it never was`)
    report('I3', place >= (last.get(id) ?? 0), `${id} went back to ${status}`)
    last.set(id, place)
  }
}

/** One charge for a video, one refund exactly when it failed. */
const checkCredits = ({ id, family, status, credits, ledger }: TaskRow, report: Report): void => {
  const due = family === 'image' ? [] : status === 'failed' ? ['charge', 'refund'] : ['charge']
  const kinds = ledger.map(({ kind }) => kind)
  report('I6', kinds.join() === due.join(), `${id} is ${status} with ${kinds.join(' and ')}`)
  const isWhole = ledger.every((row) => row.credits === credits)
  report('I6', isWhole, `${id}: a row of the ledger is not of ${credits} credits`)
}

/** Checks that each file of an ended task is there with its digest, and that there is no other result of it. */
const checkFiles = (task: TaskRow, { files }: Rows, report: Report): void => {
  const { id, results, thumbnail } = task
  if (task.isDeleted) return
  for (const { storageKey, sha256 } of results)
    report('I7', files.get(storageKey) === sha256, `${storageKey} is not what was stored`)
  const listed = new Set([...results.map(({ storageKey }) => storageKey), thumbnail])
  for (const key of files.keys())
    if (key.startsWith(`results/${id}/`))
      report('I7', listed.has(key), `${key} belongs to no result`)
}

const checkVersion = (
  { key, status, storageKey, sha256, moves: transitions, extraction }: VersionRow,
  { files }: Rows,
  report: Report,
): void => {
  report('I1', status !== PENDING, `${key} is undecided`)
  report('I8', status === ACTIVE && extraction === 'success', `${key} is ${status}, ${extraction}`)
  report('I8', files.get(storageKey ?? '') === sha256, `the archive of ${key} is another`)
  const said = transitions.map(({ to }) => to).join()
  report('I3', said === [PENDING, PENDING, ACTIVE].join(), `${key} went ${said}`)
}

/** Checks that every due event has come, signed, once by its id, in order; and nothing that did not happen. */
const checkEvents = (ledgers: Ledgers, report: Report): void => {
  const { orders, bulks, received, secrets, rows } = ledgers
  const events = new Map(
    rows.tasks.flatMap((task) => task.events.map((event) => [event.id, { task, event }] as const)),
  )
  const taken = new Set<string>()
  const latest = new Map<string, number>()
  for (const request of received.filter(({ path }) => path.startsWith('/t/'))) {
    const id = String(request.headers['webhook-id'])
    const found = events.get(id)
    report('I5', found !== undefined, `${request.path} received ${id}, which is no event`)
    if (!found) continue
    const { task, event } = found
    const notification = readNotification(request, secrets.get(task.owner) ?? '')
    report('I4', notification !== undefined, `the signature of event ${id} is wrong`)
    const is = `${notification?.task_id ?? notification?.id} ${notification?.status ?? notification?.state}`
    report('I5', is === `${task.id} ${event.status}`, `event ${id} reported ${is}`)
    if (!taken.has(id)) {
      const isLater = event.sequence > (latest.get(task.id) ?? 0)
      report('I4', isLater, `event ${id} came after a later one`)
      latest.set(task.id, event.sequence)
    }
    taken.add(id)
  }
  const kinds = new Map<string, ReceiverKind>(
    orders.flatMap(({ ids, receiver }) => [...ids].map((id) => [id, receiver] as const)),
  )
  for (const id of idsOf(bulks)) kinds.set(id, 'none')
  for (const { task, event } of events.values())
    checkNotified(task, event, { receiver: kinds.get(task.id), taken, report })
}

/** Allowed states of an event beside its usual ones, by kind of receiver. */
const MAY_BE: Partial<Record<ReceiverKind, readonly string[]>> = {
  gone: ['stopped'],
  none: ['unsent'],
  dead: ['pending', 'superseded', 'exhausted'],
}

interface Notifying {
  receiver: ReceiverKind | undefined
  taken: ReadonlySet<string>
  report: Report
}

const checkNotified = (
  { events }: TaskRow,
  event: EventRow,
  { receiver = 'well', taken, report }: Notifying,
): void => {
  if (!event.deliver || MAY_BE[receiver]?.includes(event.state)) return
  const isLast = event.sequence === events.length
  const allowed = isLast ? ['delivered'] : ['delivered', 'superseded']
  const { id, status, state } = event
  report('I4', allowed.includes(state), `event ${id} (${status}) is ${state}`)
  report('I4', state !== 'delivered' || taken.has(id), `event ${id} never came`)
}

/** Checks that no canary is anywhere, plain or as Base64; receivers get none but their own payload. */
const checkCanaries = ({ canaries, said, received }: Ledgers, report: Report): void => {
  const webhooks = received.map(({ body }) => body.toString().replace(PAYLOAD, ''))
  for (const text of canaries)
    for (const [place, texts] of Object.entries({ ...said, webhooks })) {
      // Without what the text after it has a part in.
      const encoded = btoa(text).slice(0, Math.floor(text.length / 3) * 4)
      const isFound = texts.some((one) => one.includes(text) || one.includes(encoded))
      report('I11', !isFound, `${text.slice(0, 6)}… is in a ${place}`)
    }
}
