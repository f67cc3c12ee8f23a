import { setTimeout as sleep } from 'node:timers/promises'

import { Client } from '@temporalio/client'

import { openTemporal } from '../src/platform/temporal/connection.ts'
import { hasGrpcCode } from '../src/platform/temporal/grpc-error.ts'
import { findPort } from '../src/local/port.ts'
import { readTemporal } from '../src/platform/settings/temporal.ts'
import { VIDEO_API } from '../test/support/client.ts'
import { withServers, type Keep } from '../test/support/keep.ts'
import { startWebhookReceiver, respond } from '../test/support/receiver.ts'
import { startService, type Service } from '../test/support/service.ts'
import { temporalAddress, temporalSettings } from '../test/support/stack.ts'
import { startTemporalFrontend } from '../test/support/temporal-frontend.ts'
import { waitFor } from '../test/support/wait.ts'
import { createReleaseDatabase } from '../test/upgrade/release.ts'
import { makeTarget, type Target } from './publish/target.ts'
import { addActions, countActions, totalOf, type Actions } from './support/actions.ts'
import { bearer, call, callJson } from './support/call.ts'
import { say, showResult } from './support/results.ts'
import { DEFAULTS } from './support/settings.ts'
import { relight, startTaskClient } from './support/task-client.ts'

/** Folder of another commit, built, that runs in place of this one (`node tools/run.mjs tools/build.ts` in its checkout). */
const RELEASE = process.env['RELEASE']
/** Further settings of the service: `NAME=value`, with spaces between. */
const SETTINGS = Object.fromEntries(
  (process.env['SETTINGS']?.split(' ') ?? []).map((pair) => pair.split('=', 2)),
) as NodeJS.ProcessEnv
const PAUSE_SECONDS = Number(process.env['PAUSE_SECONDS'] ?? 60)
const DAY = 86_400
/** An upload may end so long after its deadline. */
const GRACE_SECONDS = 300
const LONG_MS = 15 * 60_000

const ENV = {
  ...DEFAULTS,
  // Further attempts at a webhook come within seconds; how many there are is the same.
  OVERRIDE_WEBHOOK_TIME_FACTOR: '0.001',
  OVERRIDE_UPLOAD_EXPIRY_SECONDS: String(DAY - GRACE_SECONDS),
  ADMIN_SUBJECTS: 'root',
  PUBLISH_AUTH: 'token',
  ...SETTINGS,
}

/**
 * Counts the Actions by which Temporal Cloud bills a job. Histories have all but the heartbeats, which a frontend before the
 * server counts. Jobs run one after another. A pause is projected to an hour, and an archive that never
 * comes to a day. With RELEASE another commit is counted.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const database = RELEASE && { database: await createReleaseDatabase('actions', RELEASE) }
    const service = keep(await startService({ env: ENV, roles: [], ...database }))
    await service.start('api', {}, RELEASE)
    const calls = {
      core: await startWorker(keep, service, 'core'),
      media: await startWorker(keep, service, 'media'),
    }
    const place: Place = {
      service,
      keep,
      tasks: keep(await startTaskClient(service)),
      target: await makeTarget(service),
      counter: await makeCounter(keep, service, calls),
    }
    const archive = await beginArchive(place)
    await countTasks(place)
    await countPause(place)
    await countBatch(place)
    await countDeliveries(place)
    await countArchive(place, archive)
  })

interface Place {
  service: Service
  keep: Keep
  tasks: Awaited<ReturnType<typeof startTaskClient>>
  target: Target
  counter: Awaited<ReturnType<typeof makeCounter>>
}

type Calls = Record<'core' | 'media', readonly string[]>

/** Starts a worker; returns its calls of Temporal. */
const startWorker = async (
  keep: Keep,
  service: Service,
  role: keyof Calls,
): Promise<readonly string[]> => {
  const { address, calls, close } = await startTemporalFrontend({ target: temporalAddress() })
  keep({ stop: close })
  await service.start(role, { TEMPORAL_ADDRESS: address }, RELEASE)
  return calls
}

const makeCounter = async (keep: Keep, { taskQueue }: Service, calls: Calls) => {
  const target = readTemporal(temporalSettings())
  const connection = openTemporal(target)
  keep({ stop: () => connection.close() })
  const { workflow } = new Client({ connection, namespace: target.namespace })
  const queryOf = (types: readonly string[]): string =>
    `TaskQueue = '${taskQueue}' AND WorkflowType IN (${types.map((type) => `'${type}'`).join()})`
  const read = async (types: readonly string[]): Promise<Actions> => {
    let sum: Actions = {}
    for await (const { workflowId, runId } of workflow.list({ query: queryOf(types) })) {
      const { events } = await workflow.getHandle(workflowId, runId).fetchHistory()
      sum = addActions(sum, countActions(events ?? []))
    }
    return sum
  }
  const countBeats = (role: keyof Calls): number =>
    calls[role].filter((method) => method === 'RecordActivityTaskHeartbeat').length
  const untilEnded = async (types: readonly string[]): Promise<void> => {
    const query = `${queryOf(types)} AND ExecutionStatus = 'Running'`
    const hasEnded = async () => (await workflow.count(query)).count === 0
    await waitFor(`the end of ${types.join()}`, hasEnded, LONG_MS)
  }
  /** Counts the Actions of runs of these types that some work begins, and that end. */
  const ofRuns = async (
    types: readonly string[],
    work: () => Promise<unknown>,
  ): Promise<Actions> => {
    // A task has ended for its caller some moments before its workflow has.
    await untilEnded(types)
    const before = await read(types)
    await work()
    await untilEnded(types)
    return addActions(await read(types), before, -1)
  }
  return {
    ofRuns,
    /** The same with the heartbeats that a worker sends meanwhile. */
    async of(type: string, role: keyof Calls, work: () => Promise<unknown>): Promise<Actions> {
      const beats = countBeats(role)
      const actions = await ofRuns([type], work)
      return addActions(actions, { heartbeat: countBeats(role) - beats })
    },
    /** Seconds that the first timer of a run is for, once it has one. */
    firstTimer: (workflowId: string): Promise<number> =>
      waitFor(`a timer of ${workflowId}`, async () => {
        // Its start follows the response.
        const history = await workflow.getHandle(workflowId).fetchHistory().catch(notFound)
        const timer = history?.events?.find((event) => event.timerStartedEventAttributes)
        const { seconds } = timer?.timerStartedEventAttributes?.startToFireTimeout ?? {}
        return seconds ? Number(seconds) : undefined
      }),
  }
}

const notFound = (error: unknown): undefined => {
  if (!hasGrpcCode(error, 'NOT_FOUND')) throw error
}

const show = (name: string, actions: Actions): void => {
  const parts = Object.entries(actions).map(([what, count]) => `${what} ${count}`)
  say(`${name.padEnd(44)} ${totalOf(actions)} Actions: ${parts.join(', ')}`)
}

const showActions = (name: string, value: number, atMost: number): void =>
  showResult(`actions.${name}`, value, { unit: 'Actions', atMost })

const countTasks = async ({ tasks, counter }: Place): Promise<void> => {
  const order = await relight()
  // The first picture of a worker takes longer, and a heartbeat with it.
  await tasks.run(order)
  const image = await counter.of('imageTask', 'media', () => tasks.run(order))
  show('image task', image)
  const body = { model: 'videoq2', prompt: 'a boat on a lake', duration: 8 }
  const begun = performance.now()
  const video = await counter.of('videoTask', 'media', () =>
    tasks.run({ path: `${VIDEO_API}/text2video`, body, end: 'success' }),
  )
  show(`video of 8 s, in ${((performance.now() - begun) / 1000).toFixed(0)} s`, video)
  showActions('image', totalOf(image), 3)
  showActions('video', totalOf(video), 6)
}

/** Begins some work under a pause, and lets it go on after a time. */
const whilePaused = async ({ service }: Place, work: () => Promise<unknown>): Promise<void> => {
  const url = `${service.baseUrl}/admin/pauses/all`
  const headers = await bearer(service, 'root')
  await call(url, { method: 'PUT', headers, body: {} })
  const done = work()
  await sleep(PAUSE_SECONDS * 1000)
  await call(url, { method: 'DELETE', headers })
  await done
}

/** Counts the Actions that waiting adds to a task. */
const countPause = async (place: Place): Promise<void> => {
  const order = await relight()
  const run = () => place.tasks.run(order)
  const alone = await place.counter.of('imageTask', 'media', run)
  const paused = await place.counter.of('imageTask', 'media', () => whilePaused(place, run))
  show(`image task paused for ${PAUSE_SECONDS} s`, paused)
  const waits = totalOf(paused) - totalOf(alone)
  showActions('paused-hour', (waits / PAUSE_SECONDS) * 3600, 0)
}

const countBatch = async (place: Place): Promise<void> => {
  const { service, counter } = place
  const { path, body } = await relight()
  const headers = await bearer(service, 'bench')
  const requests = Array.from({ length: 50 }, () => ({ path, body }))
  const run = async (): Promise<void> => {
    const url = `${service.baseUrl}/batches`
    type Made = { batch_id: string }
    const { batch_id: id } = await callJson<Made>(url, { headers, body: { requests } })
    const hasEnded = async () => {
      const { state } = await callJson<{ state: string }>(`${url}/${id}`, { headers })
      return state === 'done'
    }
    await waitFor('the end of the batch', hasEnded, LONG_MS)
  }
  show('batch of 50, without its tasks', await counter.of('runBatch', 'core', run))
  const paused = await counter.of('runBatch', 'core', () => whilePaused(place, run))
  show(`batch of 50, paused for ${PAUSE_SECONDS} s`, paused)
  showActions('batch', totalOf(paused), 10)
}

/** Counts what notifying costs beside the task: at a URL that responds, and at one that fails twice. */
const countDeliveries = async ({ keep, tasks, counter }: Place): Promise<void> => {
  const receiver = keep(await startWebhookReceiver())
  const order = await relight()
  const first = await counter.of('deliverEvents', 'core', () => tasks.runNotified(order, receiver))
  show('webhook that responds', first)
  receiver.script('/twice', (turn) => respond(turn.earlier < 2 ? 500 : 204)(turn))
  const retried = await counter.of('deliverEvents', 'core', async () => {
    const body = { ...order.body, webhook_url: receiver.url('/twice') }
    await tasks.run({ ...order, body })
    await waitFor('all its events', () =>
      receiver.of('/twice').some((request) => String(request.body).includes('"COMPLETED"')),
    )
  })
  show('webhook that fails at first', retried)
  showActions('delivery', totalOf(first), 0)
}

const PUBLICATION = ['publishVersion', 'receiveArchive', 'extractHostNodes']

/** Publishes a version whose archive never comes; returns the seconds of the first timer of its wait. */
const publish = async (
  { counter, target: { publisherId, token } }: Place,
  { baseUrl }: { baseUrl: string },
  id: string,
): Promise<number> => {
  const url = `${baseUrl}/publishers/${publisherId}/nodes/${id}/versions`
  const body = { personal_access_token: token, node: { id }, node_version: { version: '1.0.0' } }
  const made = await callJson<{ node_version: { id: string } }>(url, { body })
  return await counter.firstTimer(`receive-archive/${made.node_version.id}`)
}

/** Publishes at an api whose uploads expire at once, and so end after the time that they are given beside. */
const beginArchive = async (place: Place): Promise<{ ended: Promise<Actions> }> => {
  const port = await findPort()
  const baseUrl = `http://127.0.0.1:${port}`
  const env = { PORT: String(port), PUBLIC_URL: baseUrl, OVERRIDE_UPLOAD_EXPIRY_SECONDS: '1' }
  await place.service.start('api', env, RELEASE)
  const ended = place.counter.ofRuns(PUBLICATION, () => publish(place, { baseUrl }, 'short'))
  // It is awaited last: should another job fail meanwhile, that is what is thrown.
  ended.catch(() => {})
  return { ended }
}

/**
 * Projects a day from the whole of a wait of `GRACE_SECONDS`, and from the first timer of one that has a day: it has as many
 * as fit into a day, each with the step that reads the row.
 */
const countArchive = async (
  place: Place,
  { ended }: { ended: Promise<Actions> },
): Promise<void> => {
  const whole = await ended
  show(`archive that never comes, for ${GRACE_SECONDS} s`, whole)
  const seconds = await publish(place, place.service, 'long')
  say(`of a deadline in a day the first timer is for ${seconds} s`)
  const further = Math.round(DAY / seconds) - (whole['timer'] ?? 0)
  showActions('archive-day', totalOf(whole) + 2 * further, 8)
}
