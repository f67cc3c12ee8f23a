import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'

import { base64 } from '../test/support/pictures.ts'
import { startWebhookReceiver } from '../test/support/receiver.ts'
import { median, say, showFigure, showRatio, showSpread } from './support/figures.ts'
import { withServers } from './support/keep.ts'
import { inLanes, inTurns, latencyOf, rateOf } from './support/lanes.ts'
import { killEach, listenForEnd } from './peers/kills.ts'
import type { Killed, Work } from './peers/kills.ts'
import { PEERS } from './peers/queue.ts'
import { startRedis } from './peers/redis.ts'
import { startKiln, startPeer } from './peers/side.ts'
import type { Side } from './peers/side.ts'

const ROUNDS = Number(process.env['ROUNDS'] ?? 5)
const JOBS = 200
const IN_FLIGHT = 20
const SINGLES = 20
/** Loops that keep every core busy end after this time, whatever happens. */
const BUSY_MS = 60_000

/**
 * The same job on Kiln and on three queues for Node: taken durably over HTTP, rendered, stored with fsync, and told to a
 * receiver. Throughput with 20 in flight, latency of one at a time, and what becomes of 100 jobs when each process is
 * killed once. PostgreSQL is the same for all; Redis writes each change to the disk.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const redis = await startRedis()
    if (redis) keep(redis)
    else say('SKIPPED: bullmq, for want of redis-server (Debian: apt-get install redis-server)')
    const work = { image: await base64(), receiver: keep(await startWebhookReceiver()) }
    const peers = PEERS.filter((peer) => peer !== 'bullmq' || redis)
    const start = async (peer: (typeof PEERS)[number], tuned: boolean): Promise<Side> =>
      keep(await startPeer({ peer, tuned, redisPort: redis?.port ?? 0 }))
    const kiln = keep(await startKiln())
    const sides = [kiln]
    for (const peer of peers) sides.push(await start(peer, true))
    await measureRates(sides, work)
    for (const side of sides) await measureKills(side, work, ROUNDS)
    await measureBusy(kiln, work)
    // With their defaults they need minutes or hours after a kill, so this is looked at once.
    for (const peer of peers) await measureKills(await start(peer, false), work, 1)
  })

const runJob = async (side: Side, { image, prompt, receiver }: Work): Promise<void> => {
  const job = listenForEnd(receiver)
  await side.post({ ...job, image, prompt })
  await job.told
}

const measureRates = async (sides: Side[], work: Work): Promise<void> => {
  for (const side of sides) await rateOf(40, IN_FLIGHT, () => runJob(side, work))
  const byName = (measure: (side: Side) => Promise<number>) =>
    Object.fromEntries(sides.map((side) => [side.name, () => measure(side)]))
  const rateOfSide = (side: Side) => rateOf(JOBS, IN_FLIGHT, () => runJob(side, work))
  const latencyOfSide = (side: Side) => latencyOf(SINGLES, () => runJob(side, work))
  const rates = await inTurns(ROUNDS, byName(rateOfSide))
  const latencies = await inTurns(ROUNDS, byName(latencyOfSide))
  for (const [name, each] of Object.entries(rates))
    showSpread(`${name}, 20 in flight`, each, 'jobs/s')
  for (const [name, each] of Object.entries(latencies))
    showSpread(`${name}, one at a time, p50`, each, 'ms')
  const { kiln = [], 'graphile-worker': graphile = [] } = rates
  showRatio('peers.graphile-worker', [kiln, graphile], { atLeast: 0.2 })
}

const measureKills = async (side: Side, work: Work, rounds: number): Promise<void> => {
  const all: Killed[] = []
  for (let round = 0; round < rounds; round += 1) all.push(await killEach(side, work))
  const sum = (key: 'lost' | 'rerun' | 'toldAgain') =>
    all.reduce((total, round) => total + round[key], 0)
  const recovery = all.flatMap((round) => round.recovery)
  say(`${side.name}: each process killed once, ${rounds} x 100 jobs:`)
  say(
    `  not told after 120 s ${sum('lost')}, run twice ${sum('rerun')}, told twice ${sum('toldAgain')}`,
  )
  showSpread('  last job of a killed worker', recovery, 's')
  if (side.name === 'kiln') showFigure('peers.recovery', median(recovery), { unit: 's', atMost: 6 })
}

/**
 * Renders of some seconds in the media worker, beside two loops for each core that never give way: their heartbeats must
 * come all the same.
 */
const measureBusy = async (kiln: Side, work: Work): Promise<void> => {
  const image = await base64({ width: 4000, height: 4000, format: 'jpeg' })
  const lit = { ...work, image, prompt: 'warm sunset light from the left' }
  const loops = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn(process.execPath, [
      '-e',
      `for (const end = Date.now() + ${BUSY_MS}; Date.now() < end;);`,
    ]),
  )
  const before = await kiln.countRerun()
  const seconds: number[] = []
  const end = performance.now() + BUSY_MS / 2
  await inLanes(IN_FLIGHT, 4, async () => {
    if (performance.now() > end) return
    seconds.push((await latencyOf(1, () => runJob(kiln, lit))) / 1000)
  })
  for (const loop of loops) loop.kill('SIGKILL')
  showSpread('kiln, 16 megapixels lit on a busy machine', seconds, 's')
  const lost = (await kiln.countRerun()) - before
  showFigure('peers.lost-when-busy', lost, { unit: 'renders', atMost: 0 })
}
