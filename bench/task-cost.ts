import { IMAGE_API, VIDEO_API } from '../test/support/client.ts'
import { withServers } from '../test/support/keep.ts'
import { startService, type Service } from '../test/support/service.ts'
import { createReleaseDatabase } from '../test/upgrade/release.ts'
import { bearer, callJson } from './support/call.ts'
import { latencyOf, rateOf } from './support/lanes.ts'
import { spentOn, watchProcessors } from './support/processor.ts'
import { say, showSpread } from './support/results.ts'
import { startCountingProxy, type Transaction } from './support/round-trips.ts'
import { DEFAULTS } from './support/settings.ts'
import { relight, startTaskClient, type TaskOrder } from './support/task-client.ts'

/** Folder of another commit, built, that runs in place of this one (`node tools/run.mjs tools/build.ts` in its checkout). */
const RELEASE = process.env['RELEASE']
const TASKS = Number(process.env['TASKS'] ?? 15)
const READS = Number(process.env['READS'] ?? 4000)

const VIDEO: TaskOrder = {
  path: `${VIDEO_API}/text2video`,
  body: { model: 'videoq2', prompt: 'a boat on a lake', duration: 1, resolution: '540p' },
  end: 'success',
}

/** Transactions of a task, by a statement that each commit of them has, or had; the first that fits is meant. */
const STEPS: Record<string, RegExp> = {
  create: /insert into task \(/,
  claim: /fence = (t\.)?fence \+ 1/,
  end: /insert into task_result|ended_at = clock_timestamp/,
  'a video’s entry into the queue': /admitted_at = coalesce|set admitted_at/,
}

/**
 * Costs of one task that runs alone: the round trips of its transactions, counted before the database, its time, and the reads of
 * its status. With RELEASE those of another commit.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep, { env, folder }) => {
    const own = RELEASE && { database: await createReleaseDatabase('task-cost', RELEASE) }
    const service = keep(await startService({ env: DEFAULTS, roles: [], ...own }))
    const proxy = keep(await startCountingProxy(env.TEST_DATABASE_URL))
    const settings = { DATABASE_URL: proxy.urlOf(service.database.url) }
    for (const role of ['api', 'core', 'media'] as const)
      await service.start(role, settings, RELEASE)
    const tasks = keep(await startTaskClient(service))
    for (const [name, order] of [
      ['image', await relight()],
      ['video', VIDEO],
    ] as const) {
      // The first of each takes longer, and its statements are prepared.
      await tasks.run(order)
      proxy.transactions.length = 0
      const milliseconds = [await latencyOf(TASKS, () => tasks.run(order))]
      showSpread(`${name}, POST to end, p50 of ${TASKS}`, milliseconds, 'ms')
      const [begun] = await service.database.sql<{ ms: number }[]>`
        select 1000 * extract(epoch from percentile_cont(0.5)
          within group (order by claimed_at - created_at))::float8 as ms
        from (select * from task where family = ${name} order by created_at desc limit ${TASKS}) t
      `
      showSpread(`${name}, creation to claim, p50 of ${TASKS}`, [begun?.ms ?? Number.NaN], 'ms')
      showRoundTrips(name, proxy.transactions)
    }
    await showReads(service, await tasks.run(await relight()), folder)
  })

/** Reads of the status of a task that has ended; each by its processor, because clients and servers share the cores. */
const showReads = async (service: Service, id: string, folder: string): Promise<void> => {
  const headers = await bearer(service, 'bench')
  const read = () => callJson(`${service.baseUrl}${IMAGE_API}/image-relight/${id}`, { headers })
  await rateOf(READS / 4, 16, read)
  const spent = await spentOn(await watchProcessors(service, `${folder}/temporal`), () =>
    rateOf(READS, 16, read),
  )
  for (const part of ['api', 'postgres'])
    say(`status: ${((spent[part] ?? 0) / READS).toFixed(3)} ms of processor of ${part} a read`)
}

const showRoundTrips = (name: string, transactions: readonly Transaction[]): void => {
  const steps = Object.entries(STEPS)
  const stepOf = ({ statements }: Transaction) =>
    steps.find(([, is]) => statements.some((text) => is.test(text)))?.[0]
  for (const [step] of steps) {
    const found = transactions.filter((each) => stepOf(each) === step)
    const trips = found.map(({ roundTrips }) => roundTrips)
    const middle = trips.toSorted((a, b) => a - b)[Math.floor(trips.length / 2)] ?? 0
    const perTask = (trips.length / TASKS).toFixed(1)
    say(`${name}: ${step}: ${middle} round trips, ${perTask} transactions a task`)
  }
}
