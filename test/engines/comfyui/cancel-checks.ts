import { deepEqual, equal, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

import { makeFaultGraph, makeGraph } from '../../support/comfyui/bare-client.ts'
import { needsFaults, unique } from './subject.ts'
import type { Check, Subject } from './subject.ts'

/** A prompt that runs until it is interrupted, and another behind it. */
const startTwo = async (subject: Subject) => {
  const running = await subject.queued(
    makeFaultGraph(subject.picture, { mode: 'steps', seconds: 600, folder: unique() }),
  )
  await subject.running(running)
  const pending = await subject.queued(makeGraph(subject.picture, unique()))
  return { running, pending }
}

const isQueued = async (subject: Subject, id: string): Promise<boolean> => {
  const { queue_running, queue_pending } = await subject.queue()
  return [...queue_running, ...queue_pending].some((item) => item[1] === id)
}

export const CANCEL_CHECKS: readonly Check[] = [
  {
    title: 'deletes a prompt that waits, without a trace',
    needs: needsFaults,
    async run(subject) {
      const { running, pending } = await startTwo(subject)
      equal((await subject.post('/queue', { delete: [pending] })).status, 200)
      equal(await isQueued(subject, pending), false)
      await subject.interrupted(running)
      await subject.run(makeGraph(subject.picture, unique()))
      equal(await subject.history(pending), undefined)
    },
  },
  {
    title: 'responds 200 to the deletion of what runs or is unknown, and does nothing',
    needs: needsFaults,
    async run(subject) {
      const { running, pending } = await startTwo(subject)
      equal((await subject.post('/queue', { delete: [running, randomUUID()] })).status, 200)
      ok(await isQueued(subject, running))
      await subject.interrupted(running)
      await subject.ended(pending)
    },
  },
  {
    title: 'responds 200 to the interrupt of what waits or is unknown, and does nothing',
    needs: needsFaults,
    async run(subject) {
      const { running, pending } = await startTwo(subject)
      for (const prompt_id of [pending, randomUUID()])
        equal((await subject.post('/interrupt', { prompt_id })).status, 200)
      ok(await isQueued(subject, pending))
      await subject.interrupted(running)
      equal((await subject.ended(pending)).status.status_str, 'success')
    },
  },
  {
    title: 'ends what runs by an interrupt, as an error without files',
    needs: needsFaults,
    async run(subject) {
      const { running, pending } = await startTwo(subject)
      const { status, outputs } = await subject.interrupted(running)
      deepEqual([status.status_str, status.completed, outputs], ['error', false, {}])
      const [type, data] = status.messages.at(-1) ?? []
      equal(type, 'execution_interrupted')
      deepEqual(
        [data?.['prompt_id'], data?.['node_id'], data?.['node_type']],
        [running, '2', 'KilnFault'],
      )
      // Nodes of its cache are not among them.
      deepEqual(data?.['executed'], [])
      await subject.ended(pending)
    },
  },
  {
    title: 'ends whatever runs by an interrupt without an id',
    needs: needsFaults,
    async run(subject) {
      const { running, pending } = await startTwo(subject)
      equal((await subject.post('/interrupt', '')).status, 200)
      equal((await subject.ended(running)).status.status_str, 'error')
      equal((await subject.ended(pending)).status.status_str, 'success')
    },
  },
  {
    title: 'forgets an interrupt while nothing runs',
    async run(subject) {
      equal((await subject.post('/interrupt', {})).status, 200)
      const entry = await subject.run(makeGraph(subject.picture, unique()))
      equal(entry.status.status_str, 'success')
    },
  },
  {
    title: 'forgets an entry of the history, and responds 200 to what is not there',
    async run(subject) {
      const id = await subject.queued(makeGraph(subject.picture, unique()))
      await subject.ended(id)
      equal((await subject.post('/history', { delete: [id, randomUUID()] })).status, 200)
      equal(await subject.history(id), undefined)
    },
  },
  {
    title: 'has no routes of jobs',
    versions: 'without jobs',
    async run(subject) {
      const id = await subject.queued(makeGraph(subject.picture, unique()))
      equal((await subject.get(`/api/jobs/${id}`)).status, 404)
      // The console of ComfyUI is served at every other path, which takes GET alone.
      ok([404, 405].includes((await subject.post(`/api/jobs/${id}/cancel`, {})).status))
      await subject.ended(id)
    },
  },
  {
    title: 'shows and cancels a job, whether it waits or runs',
    versions: 'with jobs',
    needs: needsFaults,
    async run(subject) {
      const { running, pending } = await startTwo(subject)
      const status = async (id: string) =>
        (await subject.get<{ status?: string }>(`/api/jobs/${id}`)).json.status
      deepEqual([await status(running), await status(pending)], ['in_progress', 'pending'])
      const cancel = async (id: string) => (await subject.post(`/api/jobs/${id}/cancel`, {})).json
      deepEqual(await cancel(pending), { cancelled: true })
      deepEqual(await cancel(running), { cancelled: true })
      await subject.ended(running)
      deepEqual([await status(running), await status(pending)], ['cancelled', undefined])
      deepEqual(await cancel(running), { cancelled: false })
      equal((await subject.get(`/api/jobs/${randomUUID()}`)).status, 404)
    },
  },
]
