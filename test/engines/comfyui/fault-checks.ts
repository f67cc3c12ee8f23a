import { deepEqual, equal, match, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

import { makeFaultGraph, makeGraph } from '../../support/comfyui/bare-client.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { makePicture } from '../../support/pictures.ts'
import { waitFor } from '../../support/wait.ts'
import { needsFaults, unique } from './subject.ts'
import type { Check, Subject } from './subject.ts'

/** A real one takes 20 to 50 s to start. */
const RESTART_MS = 3 * PATIENCE_MS

const fault = (subject: Subject, mode: string) =>
  makeFaultGraph(subject.picture, { mode, seconds: 600, folder: unique() })

/** Faults that a node raises, as the history says them. */
const RAISED = [
  { mode: 'raise', type: /^ValueError$/, message: /^kiln test fault/ },
  {
    mode: 'oom',
    type: /OutOfMemoryError$/,
    message: /^CUDA out of memory\.[^]*This error means you ran out of memory on your GPU/,
  },
  {
    mode: 'oom_cpu',
    type: /^RuntimeError$/,
    message: /DefaultCPUAllocator: can't allocate memory/,
  },
] as const

/** They end with the one after which only a restart helps. */
export const FAULT_CHECKS: readonly Check[] = [
  ...RAISED.map(({ mode, type, message }) => ({
    title: `says what a node raised (${mode}), and runs the next prompt`,
    needs: needsFaults,
    async run(subject: Subject) {
      const { status, outputs } = await subject.run(fault(subject, mode))
      deepEqual([status.status_str, status.completed, outputs], ['error', false, {}])
      const [last, data] = status.messages.at(-1) ?? []
      equal(last, 'execution_error')
      deepEqual(
        [data?.['node_id'], data?.['node_type'], data?.['executed']],
        ['2', 'KilnFault', []],
      )
      match(String(data?.['exception_type']), type)
      match(String(data?.['exception_message']), message)
      for (const list of ['traceback', 'current_outputs']) ok(Array.isArray(data?.[list]))
      const { current_inputs } = data as { current_inputs: Record<string, unknown> }
      deepEqual(current_inputs['mode'], [mode])
      const next = await subject.run(makeGraph(subject.picture, unique()))
      equal(next.status.status_str, 'success')
    },
  })),
  {
    title: 'has after a kill its files, but no queue, history, number nor temporary file',
    needs: needsFaults,
    async run(subject) {
      const marker = { name: `kiln-boot-${randomUUID()}.png`, bytes: await makePicture() }
      await subject.upload({ ...marker, type: 'temp' })
      const subfolder = unique()
      await subject.upload({ ...marker, subfolder })
      const view = async (type: 'temp' | 'input', folder = '') =>
        (await subject.view({ filename: marker.name, subfolder: folder, type })).status
      equal(await view('temp'), 200)
      const before = await subject.queued(makeGraph(subject.picture, unique()))
      await subject.ended(before)
      const holding = await subject.queued(fault(subject, 'steps'))
      await subject.running(holding)
      const killed = await subject.queued(fault(subject, 'kill'))
      const waiting = await subject.queued(makeGraph(subject.picture, unique()))
      await subject.post('/interrupt', { prompt_id: holding })
      await waitFor(
        'the restart',
        async () => (await view('temp').catch(() => undefined)) === 404,
        RESTART_MS,
      )
      deepEqual(await subject.queue(), { queue_running: [], queue_pending: [] })
      for (const id of [before, holding, killed, waiting])
        equal(await subject.history(id), undefined)
      equal(await view('input', subfolder), 200)
      const prompt = makeGraph(subject.picture, unique())
      const { json } = await subject.post<{ number: number }>('/prompt', { prompt })
      equal(json.number, 0)
    },
  },
  {
    title: 'runs nothing after its thread has ended, and responds as if nothing was',
    needs: needsFaults,
    async run(subject) {
      const ended = await subject.queued(fault(subject, 'exit_thread'))
      await subject.running(ended)
      const client = randomUUID()
      const socket = await subject.listen(client)
      const next = await subject.queued(makeGraph(subject.picture, unique()), { client_id: client })
      equal((await subject.post('/interrupt', { prompt_id: ended })).status, 200)
      equal((await subject.get('/system_stats')).status, 200)
      const { queue_running, queue_pending } = await subject.queue()
      deepEqual(
        [queue_running.map((item) => item[1]), queue_pending.map((item) => item[1])],
        [[ended], [next]],
      )
      equal(socket.types().includes('execution_start'), false)
      socket.close()
    },
  },
]
