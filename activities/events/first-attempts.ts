import { setTimeout as sleep } from 'node:timers/promises'

import { completeAttempt, loseAttempt, stopEvent } from '../../src/events/db/attempt.ts'
import type { AttemptKey, AttemptResult, BegunAttempt } from '../../src/events/db/attempt.ts'
import type { Transaction } from '../../src/platform/db/client.ts'
import {
  beginFirstAttempts,
  completeFirstAttempts,
  holdFirstAttempts,
  deferHosts,
  takeFirstAttempts,
} from '../../src/events/db/first-attempt.ts'
import type { FirstAttempt } from '../../src/events/db/first-attempt.ts'
import { dropOvertaken } from '../../src/events/db/delivery.ts'
import { hastenWaiting, recordRecovery } from '../../src/events/db/recovery.ts'
import { makeBatch } from '../../src/platform/db/batch.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import type { FirstAttemptDependencies } from './dependencies.ts'
import { startLoop, type Loop } from '../../src/platform/process/loop.ts'
import { logLost, lostVerdict, makeSendAttempt } from './send-attempt.ts'
import type { AttemptOutcome, SendAttempt } from './send-attempt.ts'
import type { SlotKind } from '../../src/platform/outbound/attempt-slots.ts'

/** Attempts that one worker holds at most: in all, of one account, and of one host, which leaves its account some. */
const MAX_LEASED = 256
const PER_ACCOUNT = 48
const PER_HOST = 24
/** Long enough for three renewals; after it another worker takes the attempts of a killed worker. */
const LEASE_SECONDS = 5
const RENEW_MS = 1600
/** Longest wait of an attempt for a slot of its host before it makes room for others, and those behind it with it. */
const SLOT_WAIT_MS = 1000
/** Pauses between polls grow with the time without work. A change notification wakes the notifier. */
const SHORTEST_POLL_MS = 100
const LONGEST_POLL_MS = 5000
const POLLS = 20
/** Change notifications come in groups while more than a few attempts are under way: a millisecond for each more, at most. */
const FEW = 3
const GATHER_MS = 8
const ERROR_PAUSE_MS = 500
/** Pause between two checks for hosts that are paused. */
const PAUSED_MS = 4000
/** Pause between two checks for hosts that work again. */
const RECOVERED_MS = 1000
/** Full for all who send there. What an account or an owner has enough of says nothing of their webhook URLs. */
const OF_URLS: readonly SlotKind[] = ['host', 'address']

/**
 * Starts first attempts in this worker: it takes due attempts, sends many at once and records them in batches. A failed
 * event goes on in a workflow of its task. Any number of workers share the work, because each leases what it has taken.
 * The end waits for the attempts under way. No workflow starts them, so events are sent while Temporal is away.
 */
export const startFirstAttempts = (
  deps: FirstAttemptDependencies,
  sendAttempt: SendAttempt = makeSendAttempt(deps),
): Loop => {
  const { log, notifier } = deps
  const run = makeRun(deps, sendAttempt)
  const taking = startLoop('first attempts', makeTakePass(run), {
    intervalMs: ERROR_PAUSE_MS,
    notifier,
    log,
  })
  const others = [
    startLoop('leases of first attempts', run.renew, { intervalMs: RENEW_MS, isLate: true, log }),
    startLoop('hosts that are paused', run.deferPaused, {
      intervalMs: PAUSED_MS,
      isLate: true,
      log,
    }),
    startLoop('hosts that work again', () => unitOfWork(deps, hastenWaiting), {
      intervalMs: RECOVERED_MS,
      isLate: true,
      log,
    }),
  ]
  return {
    async stop() {
      await taking.stop()
      await run.drain()
      await Promise.all(others.map((loop) => loop.stop()))
    },
  }
}

const makeTakePass = (run: Run): (() => Promise<number>) => {
  let workedAt = 0
  let wasCut = false
  return async () => {
    const gatherMs = Math.min(run.underWay() - FEW, GATHER_MS)
    if (!wasCut && gatherMs > 0) await sleep(gatherMs)
    wasCut = false
    const { count, isCut } = await run.take()
    wasCut = isCut
    if (count > 0) workedAt = Date.now()
    if (isCut) return 0
    const pauseMs = (Date.now() - workedAt) / POLLS
    return Math.min(Math.max(pauseMs, SHORTEST_POLL_MS), LONGEST_POLL_MS)
  }
}

/** State and actions of the first attempts of a worker. */
interface Run {
  /** Begins what is due and there is room for. Cut: the next poll finds more. */
  take(): Promise<{ count: number; isCut: boolean }>
  /** Counts the attempts under way. */
  underWay(): number
  /** Keeps what it holds from other workers. */
  renew(): Promise<void>
  /** Takes the attempts of hosts that are paused out of the way of others. */
  deferPaused(): Promise<void>
  /** Waits for what is under way. */
  drain(): Promise<void>
}

const makeRun = (deps: FirstAttemptDependencies, sendAttempt: SendAttempt): Run => {
  const { sql, notifier, log } = deps
  const record = makeRecords(deps)
  const leased = new Map<string, { of: FirstAttempt; work: Promise<void> }>()
  const stuckHosts = new Set<string>()
  let after = ''
  /** Nothing waited at the last poll. */
  let isEmpty = false
  let isPolling = false
  /** An event waits for an earlier one of its task, which may be under way here. */
  let isBehind = false

  const make = async (of: FirstAttempt): Promise<void> => {
    const { eventId, lostNumber, url, owner, account } = of
    if (url === '') return await record.stop(of)
    if (lostNumber !== null) return await record.lost(of, lostNumber)
    const deferral = await sendAttempt({
      eventId,
      webhook: { url, owner, account },
      event: of,
      waitMs: SLOT_WAIT_MS,
      writeDown: () => record.writeDown(of),
      complete: (begun, outcome) => record.complete(of, begun, outcome),
    })
    if (!deferral) return
    if (OF_URLS.includes(deferral.full)) stuckHosts.add(of.host)
    await record.defer({ eventId, seconds: deferral.seconds })
  }
  const begin = (of: FirstAttempt): void => {
    const work = make(of)
      // The rows show the next worker, once the lease has ended, whether it was an attempt.
      .catch((error: unknown) =>
        log.warn({ event_id: of.eventId, err: error }, 'an attempt was not recorded'),
      )
      .finally(() => {
        // While fewer are leased than a host may have, no host or account waits for the end of one.
        if (isPolling || isBehind || leased.size >= PER_HOST) notifier.notify()
        leased.delete(of.eventId)
        if (leased.size === 0) isBehind = false
      })
    leased.set(of.eventId, { of, work })
  }
  return {
    async take() {
      const limit = MAX_LEASED - leased.size
      if (limit === 0) return { count: 0, isCut: false }
      isPolling = true
      if (stuckHosts.size > 0) await deferHosts(sql, [...stuckHosts])
      stuckHosts.clear()
      const attempts = [...leased.values()].map(({ of }) => of)
      const ofHost = count(attempts.map(({ host }) => host))
      const taken = await takeFirstAttempts(sql, {
        limit,
        perAccount: PER_ACCOUNT,
        leased: count(attempts.map(({ account }) => account)),
        fullHosts: [...ofHost].flatMap(([host, leased]) => (leased >= PER_HOST ? [host] : [])),
        after,
        leaseSeconds: LEASE_SECONDS,
      })
      after = taken.after
      isEmpty = taken.isEmpty
      const overtaken = taken.attempts.filter(({ overtakes }) => overtakes)
      await dropOvertaken(
        sql,
        overtaken.map(({ taskId }) => taskId),
      )
      const givenBack: { eventId: string; seconds: number }[] = []
      // The end of a pause may have made one due that waits here.
      for (const one of taken.attempts.filter(({ eventId }) => !leased.has(eventId)))
        if (one.isBlocked) {
          isBehind = true
          if (one.overtakes) deps.announceEvent(one.taskId)
        } else if (addTo(ofHost, one.host) <= PER_HOST) begin(one)
        else givenBack.push({ eventId: one.eventId, seconds: 0 })
      await holdFirstAttempts(sql, givenBack)
      isPolling = false
      return { count: taken.attempts.length, isCut: after !== '' || givenBack.length > 0 }
    },
    underWay: () => leased.size,
    async renew() {
      const attempts = [...leased.keys()].map((eventId) => ({ eventId, seconds: LEASE_SECONDS }))
      await holdFirstAttempts(sql, attempts)
    },
    async deferPaused() {
      if (!isEmpty) await deferHosts(sql, [])
    },
    async drain() {
      await Promise.all([...leased.values()].map(({ work }) => work))
    },
  }
}

const count = (names: readonly string[]): Map<string, number> => {
  const counts = new Map<string, number>()
  for (const name of names) addTo(counts, name)
  return counts
}

const addTo = (counts: Map<string, number>, name: string): number => {
  const added = (counts.get(name) ?? 0) + 1
  counts.set(name, added)
  return added
}

/** Makes what records first attempts, many at once. */
const makeRecords = (deps: FirstAttemptDependencies) => {
  const begin = makeBatch(async (attempts: readonly FirstAttempt[]) => {
    const numbers = await unitOfWork(deps, (sql) => beginFirstAttempts(sql, attempts))
    return attempts.map(({ eventId }) => numbers.get(eventId))
  })
  const deliver = makeBatch(
    async (delivered: readonly { key: AttemptKey; result: AttemptResult; url: string }[]) => {
      const urls = delivered.map(({ url }) => url)
      await unitOfWork(deps, (sql) =>
        Promise.all([completeFirstAttempts(sql, delivered), recordRecovery(sql, urls)]),
      )
      return delivered
    },
  )
  /** Records an attempt that did not deliver, with the workflow that makes the next one. */
  const fail = (
    task: FirstAttempt,
    { state }: AttemptOutcome['verdict'],
    write: (sql: Transaction) => Promise<void>,
  ): Promise<void> =>
    unitOfWork(deps, async (sql, enqueue) => {
      await write(sql)
      if (state === 'pending') await enqueue(deps.startDelivery(task))
    })
  return {
    stop: ({ eventId }: FirstAttempt): Promise<void> =>
      unitOfWork(deps, (sql) => stopEvent(sql, eventId)),
    writeDown: async (of: FirstAttempt): Promise<BegunAttempt | undefined> => {
      const number = await begin(of)
      return number === undefined ? undefined : { ...of, number, failures: 0, isHastened: false }
    },
    complete: async (
      of: FirstAttempt,
      { number }: BegunAttempt,
      { result, verdict }: AttemptOutcome,
    ): Promise<void> => {
      const key = { eventId: of.eventId, number }
      if (verdict.state === 'delivered') await deliver({ key, result, url: of.url })
      else await fail(of, verdict, (sql) => completeAttempt(sql, key, { result, verdict }))
    },
    lost: (of: FirstAttempt, number: number): Promise<void> => {
      const verdict = lostVerdict(deps, { failures: 0, lostBefore: 0 })
      logLost(deps, { eventId: of.eventId, number })
      return fail(of, verdict, (sql) => loseAttempt(sql, { eventId: of.eventId, number }, verdict))
    },
    defer: makeBatch(async (attempts: readonly { eventId: string; seconds: number }[]) => {
      await holdFirstAttempts(deps.sql, attempts)
      return attempts
    }),
  }
}
