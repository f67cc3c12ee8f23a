import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import type { WebhookReceiver } from '../../test/support/receiver.ts'
import { inLanes } from '../support/lanes.ts'
import { listenAt } from '../support/told.ts'
import type { Told } from '../support/told.ts'
import type { Side } from './side.ts'

const JOBS = 100
const IN_FLIGHT = 20
/** A job of which nobody has heard for so long after a kill is lost, or locked for longer. */
const LIMIT_MS = 120_000
/** Whoever is told twice is told within this time: locks of killed workers end within it. */
const SETTLE_MS = 10_000

export interface Work {
  image: string
  /** Of a light, which a render takes longer for. */
  prompt?: string | undefined
  receiver: WebhookReceiver
}

export interface Killed {
  /** Jobs that were accepted and not told. */
  lost: number
  /** Renders that were begun again, and receivers that were told again. */
  rerun: number
  toldAgain: number
  /** Seconds from each kill of a worker until the last job that was accepted then is told; infinite with a lost one. */
  recovery: number[]
}

/** A job that a receiver is to be told of. The service tells of the beginning, too, which does not count. */
export const listenForEnd = (receiver: WebhookReceiver): Told =>
  listenAt(receiver, ({ request }) => request.body.includes('"COMPLETED"'))

/** Does 100 jobs, 20 in flight, in a share for each process, and kills the process when half of its share is done. */
export const killEach = async (side: Side, work: Work): Promise<Killed> => {
  const before = await side.countRerun()
  const jobs: Told[] = []
  const recovery: number[] = []
  for (const role of side.roles) {
    const share = await killOne(side, role, work)
    jobs.push(...share.jobs)
    // That of an api is what a caller waits who sends the same again.
    if (role !== 'api') recovery.push(share.seconds)
  }
  await sleep(SETTLE_MS)
  return {
    lost: jobs.filter((job) => !isTold(job)).length,
    rerun: (await side.countRerun()) - before,
    toldAgain: jobs.reduce((sum, { toldAt }) => sum + Math.max(0, toldAt.length - 1), 0),
    recovery,
  }
}

const killOne = async (side: Side, role: string, { image, receiver }: Work) => {
  const jobs: Told[] = []
  const count = Math.round(JOBS / side.roles.length)
  const over = new AbortController()
  const limit = once(over.signal, 'abort')
  let kill: { at: number; held: Told[]; restarted: Promise<void> } | undefined
  await inLanes(count, IN_FLIGHT, async () => {
    const job = listenForEnd(receiver)
    await postUntilAccepted(side, { ...job, image })
    jobs.push(job)
    await Promise.race([job.told, limit])
    if (kill || jobs.filter(isTold).length < count / 2) return
    const held = jobs.filter((job) => !isTold(job))
    kill = { at: performance.now(), held, restarted: side.restart(role) }
    setTimeout(() => over.abort(), LIMIT_MS).unref()
  })
  await kill?.restarted
  const { at = 0, held = [] } = kill ?? {}
  const ends = held.map(({ toldAt: [first = Number.POSITIVE_INFINITY] }) => first - at)
  return { jobs, seconds: Math.max(0, ...ends) / 1000 }
}

const isTold = ({ toldAt }: Told): boolean => toldAt.length > 0

/** A caller that hears nothing, or that the service is away, sends the same again. */
const postUntilAccepted = async (side: Side, job: Parameters<Side['post']>[0]): Promise<void> => {
  const deadline = performance.now() + LIMIT_MS
  for (;;)
    try {
      await side.post(job)
      return
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(100)
    }
}
