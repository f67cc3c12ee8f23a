import { deepEqual, equal, ok, rejects } from 'node:assert/strict'
import { describe, test } from 'node:test'

import { listSaved, makeGraph } from '../../support/comfyui/bare-client.ts'
import { startFakeComfy } from '../../support/comfyui/fake.ts'
import type { PromptFault } from '../../support/comfyui/worker.ts'
import { use } from '../../support/use.ts'
import { waitFor } from '../../support/wait.ts'
import { makeSubject, unique } from './subject.ts'

/** End of a prompt with a fault: its status, the last message, the type of what was raised. */
const ENDS: [PromptFault, ...string[]][] = [
  ['oom', 'error', 'execution_error', 'torch.OutOfMemoryError'],
  ['oom_cpu', 'error', 'execution_error', 'RuntimeError'],
  ['oom_numpy', 'error', 'execution_error', 'numpy._core._exceptions._ArrayMemoryError'],
  ['cuda', 'error', 'execution_error', 'RuntimeError'],
  ['model', 'error', 'execution_error', 'FileNotFoundError'],
  ['raise', 'error', 'execution_error', 'ValueError'],
  ['interrupted', 'error', 'execution_interrupted', 'undefined'],
  ['no-output', 'success', 'execution_success', 'undefined'],
]

describe('a fake ComfyUI that is asked to fail', () => {
  const started = use(
    async () => {
      const fake = await startFakeComfy()
      return { fake, subject: await makeSubject(fake.url) }
    },
    ({ fake }) => fake.close(),
  )
  const graph = () => makeGraph(started.subject.picture, unique())

  for (const [fault, ...end] of ENDS)
    test(`ends one prompt so: ${fault}`, async () => {
      const { fake, subject } = started
      fake.faults.push(fault)
      const { status, outputs } = await subject.run(graph())
      const [type, data] = status.messages.at(-1) ?? []
      deepEqual([status.status_str, type, String(data?.['exception_type'])], end)
      deepEqual(outputs, {})
      equal((await subject.run(graph())).status.status_str, 'success')
    })

  test('loses what a prompt has saved, or cuts it', async () => {
    const { fake, subject } = started
    fake.faults.push('output-gone', 'output-truncated')
    const [gone] = listSaved(await subject.run(graph()))
    const [cut] = listSaved(await subject.run(graph()))
    const [whole] = listSaved(await subject.run(graph()))
    ok(gone && cut && whole)
    equal((await subject.view(gone)).status, 404)
    const [half, all] = [await subject.view(cut), await subject.view(whole)]
    equal(half.bytes.length, Math.floor(all.bytes.length / 2))
  })

  test('forgets a prompt that has run', async () => {
    const { fake, subject } = started
    fake.faults.push('forgotten')
    const id = await subject.queued(graph())
    await subject.run(graph())
    equal(await subject.history(id), undefined)
  })

  test('holds what runs until it is released', async () => {
    const { fake, subject } = started
    fake.hold()
    const id = await subject.queued(graph())
    await subject.running(id)
    const next = await subject.queued(graph())
    fake.release()
    for (const ended of [id, next]) equal((await subject.ended(ended)).status.status_str, 'success')
  })

  test('interrupts what it holds', async () => {
    const { fake, subject } = started
    fake.hold()
    const id = await subject.queued(graph())
    await subject.running(id)
    equal((await subject.interrupted(id)).status.status_str, 'error')
    fake.release()
  })

  test('never ends a prompt that stalls, not by an interrupt, until it starts again', async () => {
    const { fake, subject } = started
    fake.faults.push('stall')
    const id = await subject.queued(graph())
    await subject.running(id)
    await subject.post('/interrupt', { prompt_id: id })
    const next = await subject.queued(graph())
    const { queue_running, queue_pending } = await subject.queue()
    deepEqual([queue_running[0]?.[1], queue_pending[0]?.[1]], [id, next])
    await fake.restart()
    deepEqual(await subject.queue(), { queue_running: [], queue_pending: [] })
    equal((await subject.run(graph())).status.status_str, 'success')
  })

  test('runs nothing as a zombie, until it starts again', async () => {
    const { fake, subject } = started
    fake.faults.push('zombie')
    const id = await subject.queued(graph())
    await subject.running(id)
    const next = await subject.queued(graph())
    equal((await subject.queue()).queue_pending[0]?.[1], next)
    await fake.restart()
    equal((await subject.run(graph())).status.status_str, 'success')
  })

  test('refuses connections while it is down, and starts again without its memory', async () => {
    const { fake, subject } = started
    const id = await subject.queued(graph())
    const [file] = listSaved(await subject.ended(id))
    ok(file)
    await fake.kill()
    await waitFor('the time when a connection is refused', async () =>
      subject.queue().then(
        () => false,
        ({ code }: { code: string }) => code === 'ECONNREFUSED',
      ),
    )
    await fake.start()
    equal(await subject.history(id), undefined)
    equal((await subject.view(file)).status, 200)
  })

  test('takes connections and responds to none while it is frozen, then goes on', async () => {
    const { fake, subject } = started
    fake.freeze()
    const asked = fake.requests.length
    const queued = subject.queued(graph())
    await rejects(fetchInTime(`${fake.url}/queue`))
    equal(fake.requests.length, asked)
    fake.thaw()
    equal((await subject.ended(await queued)).status.status_str, 'success')
  })

  test('sends no events while it is silent, and ends prompts', async () => {
    const { fake, subject } = started
    const socket = await subject.listen('quiet')
    await waitFor('the status', () => socket.events.length > 0)
    fake.silent = true
    const before = socket.events.length
    await subject.run(graph(), { client_id: 'quiet' })
    deepEqual([socket.events.length, socket.isOpen()], [before, true])
    fake.silent = false
    socket.close()
  })

  test('breaks a connection before or after a request has its effect', async () => {
    const { fake, subject } = started
    for (const [fault, effect] of [
      ['drop', 0],
      ['lose', 1],
    ] as const) {
      const before = fake.prompted.length
      fake.intercept = (asked) => (asked === 'POST /prompt' ? fault : undefined)
      await rejects(subject.queued(graph()))
      equal(fake.prompted.length, before + effect)
    }
    fake.intercept = () => ({ status: 503, body: 'busy' })
    deepEqual((await subject.get('/queue')).text, 'busy')
    fake.intercept = undefined
  })
})

/** Long enough to arrive, so that the request waits at the other end. */
const fetchInTime = async (url: string): Promise<unknown> =>
  await fetch(url, { signal: AbortSignal.timeout(300) })
