import { deleteEndedPauses } from './db/pause.ts'
import {
  admitImage,
  admitOwner,
  listOwnersToAdmit,
  listWaiting,
  topUpImages,
  type AdmissionRules,
} from './db/admission.ts'
import { listOverdueTasks, releaseLater } from './db/release.ts'
import { chooseProbe, findNextEndMs } from './db/breaker.ts'
import { listSlots } from './db/worker.ts'
import { RULES } from '../platform/db/change-notification.ts'
import type { Transaction } from '../platform/db/client.ts'
import { unitOfWork, type Enqueue, type UnitDeps } from '../platform/db/unit-of-work.ts'
import type { EngineName } from './domain/engine.ts'
import { failTask } from './fail.ts'

type AdmitDeps = UnitDeps & AdmissionRules

/** Pause after a pass that has admitted something, after one that waits for workers, and after one without work. */
const PACE_MS = 200
const WAIT_MS = 1000
export const IDLE_MS = 5000

/** Accounts behind which the last pass over the tasks of an engine ended. */
type Places = Map<string, string>

/**
 * Makes the pass that admits what nothing blocks any more: after a pause or an open breaker, behind others of its account,
 * or where a slot was given back beside the end of a task, or at the time that its request gives. It also lets one task try an engine whose breaker is half-open,
 * and fails what has passed a deadline. One process at a time runs it, and each step is conditional. Returns milliseconds
 * until the next pass.
 */
export const makeAdmissionPass = (deps: AdmitDeps) => {
  const places: Places = new Map()
  return async (signal: AbortSignal): Promise<number> => {
    const { tasks, nextMs } = await listOverdueTasks(deps.sql)
    let failed = 0
    for (const { code, ...task } of tasks) {
      if (signal.aborted) return 0
      const fail = (sql: Transaction, enqueue: Enqueue) =>
        failTask(sql, task, { ...deps, code, enqueue })
      failed += Number(await unitOfWork(deps, fail, { of: task.id }))
    }
    const laterMs = await releaseLater(deps.sql)
    // First attempts at webhooks of paused hosts are due now.
    if (await deleteEndedPauses(deps.sql)) deps.notifyChange?.(RULES)
    let admitted = 0
    let isWaiting = false
    while (!signal.aborted && (await admitProbe(deps))) admitted += 1
    const waiting = await listWaiting(deps.sql)
    const slots = waiting.length > 0 ? await listSlots(deps.sql) : {}
    for (const { family, engine } of waiting) {
      if (signal.aborted) return 0
      const passed =
        family === 'image'
          ? await admitImages(deps, places, { engine, slots: slots[engine] ?? 0 })
          : await admitEngineVideos(deps, places, engine, signal)
      admitted += passed.admitted
      isWaiting ||= passed.isWaiting
    }
    const waits = [nextMs, laterMs, await findNextEndMs(deps.sql)].filter((wait) => wait !== null)
    const pauseMs = admitted > 0 ? PACE_MS : isWaiting ? WAIT_MS : IDLE_MS
    // More may have passed one than a pass looks at.
    return failed > 0 ? 0 : Math.max(1, Math.min(pauseMs, ...waits))
  }
}

interface Admitted {
  admitted: number
  /** Something may go on, and its queue is full. */
  isWaiting: boolean
}

const admitProbe = (deps: AdmitDeps): Promise<boolean> =>
  unitOfWork(deps, async (sql, enqueue) => {
    const probe = await chooseProbe(sql, deps)
    if (!probe) return false
    if (probe.family === 'video')
      return (await admitOwner(sql, { ...deps, owner: probe.owner, enqueue })) > 0
    const task = await admitImage(sql, probe.id)
    if (task) await enqueue(deps.startOf(task))
    return task !== undefined
  })

const admitImages = async (
  deps: AdmitDeps,
  places: Places,
  { engine, slots }: { engine: EngineName; slots: number },
): Promise<Admitted> => {
  const place = `image ${engine}`
  const { tasks, after, isAny } = await unitOfWork(deps, async (sql, enqueue) => {
    const topped = await topUpImages(sql, { engine, slots, after: places.get(place) ?? '' })
    for (const task of topped.tasks) await enqueue(deps.startOf(task))
    return topped
  })
  places.set(place, after)
  for (const { id } of tasks) deps.notifyChange?.(id)
  return { admitted: tasks.length, isWaiting: isAny }
}

const admitEngineVideos = async (
  deps: AdmitDeps,
  places: Places,
  engine: EngineName,
  signal: AbortSignal,
): Promise<Admitted> => {
  const place = `video ${engine}`
  const options = { ...deps, engine, after: places.get(place) ?? '' }
  const { owners, after } = await listOwnersToAdmit(deps.sql, options)
  places.set(place, after)
  let admitted = 0
  for (const owner of owners) {
    if (signal.aborted) break
    admitted += await unitOfWork(deps, (sql, enqueue) =>
      admitOwner(sql, { ...deps, owner, enqueue }),
    )
  }
  return { admitted, isWaiting: owners.length > 0 }
}
