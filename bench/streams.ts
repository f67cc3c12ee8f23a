import { fork } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'

import { transitionTask } from '../src/tasks/db/task-transition.ts'
import { makeNotifyChange } from '../src/platform/db/change-notification.ts'
import { unitOfWork } from '../src/platform/db/unit-of-work.ts'
import { codePath } from '../src/local/root.ts'
import { IMAGE_API } from '../test/support/client.ts'
import { startService } from '../test/support/service.ts'
import type { Service } from '../test/support/service.ts'
import { at, say, showResult } from './support/results.ts'
import { withServers } from '../test/support/keep.ts'
import { readMemory, readProcessors } from './support/processor.ts'
import type { StreamClients } from './support/stream-clients.ts'
import { startTaskClient } from './support/task-client.ts'
import type { TaskClient } from './support/task-client.ts'

const STREAMS = Number(process.env['STREAMS'] ?? 10_000)
const PROCESSES = 4
/** One may have a tenth of all. */
const CALLERS = 12
const TASKS = 10
/** Tasks of each that are moved. */
const TRANSITIONS = 3
const IDLE_MS = 20_000

/**
 * So many streams open in one api, of clients in processes of their own: the memory of each, what all take while nothing
 * happens, and how long after its commit a move is heard by all who follow the task.
 */
export const run = async (): Promise<void> =>
  await withServers(async (keep) => {
    const max = Math.ceil(STREAMS * 1.2)
    const env = { OVERRIDE_STREAMS_MAX: String(max), TRUST_PROXY: '127.0.0.0/8' }
    const service = keep(await startService({ roles: ['api'], env }))
    const client = keep(await startTaskClient(service))
    const callers = await Promise.all(
      Array.from({ length: CALLERS }, (_, index) => makeCaller(service, client, index)),
    )
    const clients = Math.floor(STREAMS / CALLERS / TASKS)
    const open = CALLERS * TASKS * clients
    const before = memoryOf(service)
    const start = Date.now()
    const children = await Promise.all(
      Array.from({ length: PROCESSES }, (_, index) =>
        openStreams({
          baseUrl: service.baseUrl,
          callers: callers.filter((_caller, of) => of % PROCESSES === index),
          clients,
        }),
      ),
    )
    keep({ stop: async () => children.forEach((child) => child.kill()) })
    say(`${open} streams were open after ${((Date.now() - start) / 1000).toFixed(1)} s`)
    const memory = memoryOf(service)
    say(`memory of the api: ${mega(before)} MB before, ${mega(memory)} MB with them`)
    const { pid } = service.entry('api')
    const taken = readProcessors([pid])
    await sleep(IDLE_MS)
    const idle = ((readProcessors([pid]) - taken) / IDLE_MS) * 100
    const moved = callers.flatMap(({ tasks }) => tasks.slice(0, TRANSITIONS))
    const times: number[] = []
    for (const id of moved)
      times.push(...(await waitForTransition(service, id, { children, clients })))
    const kilobytes = (memory - before) / open / 1000
    showResult('streams.kilobytes', kilobytes, { unit: 'kB', atMost: 50 })
    showResult('streams.idle', idle, { unit: '%', atMost: 10 })
    showResult('streams.heard-p50', at(times, 0.5), { unit: 'ms', atMost: 100 })
    showResult('streams.heard-p99', at(times, 0.99), { unit: 'ms', atMost: 1000 })
  })

const makeCaller = async (service: Service, client: TaskClient, index: number) => {
  const owner = `caller-${index}`
  const body = { image: 'https://images.example.com/a.png' }
  const tasks: string[] = []
  for (let made = 0; made < TASKS; made += 1)
    tasks.push(await client.create({ owner, path: `${IMAGE_API}/image-upscaler`, body }))
  return { token: await service.token(owner), address: `198.51.100.${index}`, tasks }
}

const openStreams = async (asked: StreamClients): Promise<ChildProcess> => {
  const child = fork(codePath('bench/support/stream-clients.ts'), [JSON.stringify(asked)])
  await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(() => Promise.reject(new Error('clients could not open streams'))),
  ])
  return child
}

const memoryOf = (service: Service): number => readMemory(service.entry('api').pid, 'VmRSS')

const mega = (bytes: number): string => (bytes / 1e6).toFixed(0)

interface Followers {
  children: readonly ChildProcess[]
  clients: number
}

/** Makes a transition as a worker does; milliseconds from the commit until each follower gets it. */
const waitForTransition = async (
  { database: { sql } }: Service,
  id: string,
  { children, clients }: Followers,
): Promise<number[]> => {
  const notifyChange = makeNotifyChange(sql)
  await unitOfWork(
    { sql, notifyChange },
    (tx) => transitionTask(tx, 'image', { id, to: 'IN_PROGRESS' }),
    { of: id },
  )
  const start = Date.now()
  const received: number[] = []
  while (received.length < clients) {
    await sleep(50)
    for (const child of children) {
      child.send('heard')
      const [times] = (await once(child, 'message')) as [number[]]
      received.push(...times)
    }
  }
  return received.map((time) => Math.max(0, time - start))
}
