import { spawn } from 'node:child_process'
import { availableParallelism } from 'node:os'

import { base64 } from '../test/support/pictures.ts'
import { startWebhookReceiver } from '../test/support/receiver.ts'
import { say, showFigure, showSpread, spread } from './support/figures.ts'
import { inLanes, latencyOf, rateOf } from './support/lanes.ts'
import { withServers } from './support/with-servers.ts'
import { killEach, makeToldJob } from './peers/kills.ts'
import type { Killed, Work } from './peers/kills.ts'
import { PEERS } from './peers/queue.ts'
import { startRedis } from './peers/redis.ts'
import { startKiln, startPeer } from './peers/side.ts'
import type { Side } from './peers/side.ts'

const ROUNDS = 5
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
    else
      say(
        'SKIPPED: bullmq, because there is no redis-server (Debian: apt-get install redis-server)',
      )
    const work = { image: await base64(), receiver: keep(await startWebhookReceiver()) }
    const peers = PEERS.filter((peer) => peer !== 'bullmq' || redis)
    const startTuned = (peer: (typeof PEERS)[number], tuned: boolean) =>
      startPeer({ peer, tuned, redisPort: redis?.port ?? 0 })
    const kiln = keep(await startKiln())
    const sides = [kiln]
    for (const peer of peers) sides.push(keep(await startTuned(peer, true)))
    await measureRates(sides, work)
    await measureKills(sides, work)
    await measureBusy(kiln, work)
    // With their defaults they need minutes or hours after a kill, so this is looked at once.
    for (const peer of peers) {
      const side = keep(await startTuned(peer, false))
      showKilled(side, [await killEach(side, work)])
    }
  })

const runJob = async (side: Side, { image, prompt, receiver }: Work): Promise<void> => {
  const job = makeToldJob(receiver)
  await side.post({ ...job, image, prompt })
  await job.told
}

const measureRates = async (sides: Side[], work: Work): Promise<void> => {
  const rates = new Map<string, number[]>(sides.map(({ name }) => [name, []]))
  const latencies = new Map<string, number[]>(sides.map(({ name }) => [name, []]))
  for (const side of sides) await rateOf(40, IN_FLIGHT, () => runJob(side, work))
  for (let round = 1; round <= ROUNDS; round += 1) {
    for (const side of sides) {
      rates.get(side.name)?.push(await rateOf(JOBS, IN_FLIGHT, () => runJob(side, work)))
      latencies.get(side.name)?.push(await latencyOf(SINGLES, () => runJob(side, work)))
    }
    say(`round ${round} of ${ROUNDS}`)
  }
  const medianOf = (name: string) => spread(rates.get(name) ?? []).median
  for (const [name, each] of rates) showSpread(`${name}, 20 in flight`, each, 'jobs/s')
  for (const [name, each] of latencies) showSpread(`${name}, one at a time, p50`, each, 'ms')
  for (const { name } of sides.slice(1))
    say(`kiln is ${(medianOf('kiln') / medianOf(name)).toFixed(2)} x as fast as ${name}`)
  const ratio = medianOf('kiln') / medianOf('graphile-worker')
  showFigure('peers.graphile-worker', ratio, { unit: 'x', aim: 0.2, atMost: false })
}

const measureKills = async (sides: Side[], work: Work): Promise<void> => {
  for (const side of sides) {
    const rounds: Killed[] = []
    for (let round = 0; round < ROUNDS; round += 1) rounds.push(await killEach(side, work))
    showKilled(side, rounds)
    const recovery = spread(rounds.flatMap((round) => round.recovery)).median
    if (side.name === 'kiln')
      showFigure('peers.recovery', recovery, { unit: 's', aim: 6, atMost: true })
  }
}

/**
 * Renders of some seconds in the media worker, beside two loops for each core that never give way: their heartbeats must
 * come all the same.
 */
const measureBusy = async (kiln: Side, work: Work): Promise<void> => {
  const image = await base64({ width: 4000, height: 4000, format: 'jpeg' })
  const lit = { ...work, image, prompt: 'warm sunset light from the left' }
  const loops = Array.from({ length: 2 * availableParallelism() }, () =>
    spawn(process.execPath, ['-e', 'for (;;);'], { timeout: BUSY_MS, killSignal: 'SIGKILL' }),
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
  showFigure('peers.lost-when-busy', lost, { unit: 'renders', aim: 0, atMost: true })
}

const showKilled = ({ name }: Side, rounds: Killed[]): void => {
  const sum = (key: 'lost' | 'rerun' | 'toldAgain') =>
    rounds.reduce((total, round) => total + round[key], 0)
  say(`${name}: each process killed once, ${rounds.length} x 100 jobs:`)
  say(
    `  not told after 120 s ${sum('lost')}, run twice ${sum('rerun')}, told twice ${sum('toldAgain')}`,
  )
  showSpread(
    '  last job of a killed worker',
    rounds.flatMap(({ recovery }) => recovery),
    's',
  )
}
