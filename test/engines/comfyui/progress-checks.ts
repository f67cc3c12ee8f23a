import { deepEqual, equal, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

import { listSaved, makeFaultGraph, makeGraph } from '../../support/comfyui/bare-client.ts'
import { waitFor } from '../../support/wait.ts'
import { needsFaults, unique } from './subject.ts'
import type { Check, Subject } from './subject.ts'

const slow = (subject: Subject) =>
  makeFaultGraph(subject.picture, { mode: 'steps', seconds: 600, folder: unique() })

/** The events of one prompt, in their order, without those of other prompts. */
const EVENTS = [
  'execution_start',
  'execution_cached',
  // The first two nodes.
  'progress_state',
  'executing',
  'progress_state',
  'progress_state',
  'executing',
  'progress_state',
  // The output node.
  'progress_state',
  'executing',
  'executed',
  'progress_state',
  'execution_success',
  'executing',
]

export const PROGRESS_CHECKS: readonly Check[] = [
  {
    title: 'has a prompt in its queue, then in its history, with messages and files',
    needs: needsFaults,
    async run(subject) {
      const first = await subject.queued(slow(subject))
      const second = await subject.queued(makeGraph(subject.picture, unique()), {
        client_id: 'kiln-checks-none',
        extra_data: { note: 'kept' },
      })
      await subject.running(first)
      const { queue_running, queue_pending } = await subject.queue()
      deepEqual(
        [queue_running.map((item) => item[1]), queue_pending.map((item) => item[1])],
        [[first], [second]],
      )
      const [number, id, prompt, , outputs] = queue_running[0] ?? []
      ok(Number.isInteger(number))
      deepEqual([id, outputs], [first, ['9']])
      equal(prompt?.['2']?.class_type, 'KilnFault')
      deepEqual((await subject.get('/prompt')).json, { exec_info: { queue_remaining: 2 } })
      for (const unknown of [first, second, randomUUID()]) {
        const { status, json } = await subject.get(`/history/${unknown}`)
        deepEqual([status, json], [200, {}])
      }
      await subject.interrupted(first)
      const entry = await subject.ended(second)
      const { status_str, completed, messages } = entry.status
      deepEqual([status_str, completed], ['success', true])
      deepEqual(
        messages.map(([type]) => type),
        ['execution_start', 'execution_cached', 'execution_success'],
      )
      for (const [, data] of messages) equal(data['prompt_id'], second)
      equal(typeof messages[0]?.[1]['timestamp'], 'number')
      deepEqual(
        [entry.prompt[1], entry.prompt[4], entry.prompt[3]['client_id'], entry.prompt[3]['note']],
        [second, ['9'], 'kiln-checks-none', 'kept'],
      )
      const [file] = listSaved(entry)
      deepEqual([file?.filename, file?.type], ['r_00001_.png', 'output'])
      deepEqual(entry.meta, {
        // oxlint-disable-next-line unicorn/no-null -- of JSON
        9: { node_id: '9', display_node: '9', parent_node: null, real_node_id: '9' },
      })
    },
  },
  {
    title: 'runs one prompt at a time, in the order they came',
    async run(subject) {
      const ids: string[] = []
      for (let count = 0; count < 4; count += 1)
        ids.push(await subject.queued(makeGraph(subject.picture, unique())))
      const entries = await Promise.all(ids.map(async (id) => await subject.ended(id)))
      const times = entries.flatMap(({ status: { messages } }) =>
        [messages[0], messages.at(-1)].map((message) => Number(message?.[1]['timestamp'])),
      )
      deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      )
    },
  },
  {
    title: 'sends the events of a prompt to the socket of its client, in order',
    async run(subject) {
      const client = randomUUID()
      const socket = await subject.listen(client)
      await waitFor('the first event', () => socket.events.length > 0)
      equal(socket.events[0]?.data['sid'], client)
      const bytes = Buffer.from(
        (await subject.view({ filename: subject.picture, subfolder: '', type: 'input' })).bytes,
      )
      const subfolder = unique()
      await subject.upload({ name: `${client}.png`, bytes, subfolder })
      const graph = makeGraph(`${subfolder}/${client}.png`, unique())
      // Nothing of it may be cached.
      Object.assign(graph['2']?.inputs ?? {}, { sigma: 1 + Math.random() })
      await subject.run(graph, { client_id: client })
      const own = await waitFor('the last event', () => {
        const own = socket.events.filter(({ type }) => type !== 'status')
        return own.at(-1)?.data['node'] === null && own
      })
      socket.close()
      deepEqual(
        own.map(({ type }) => type),
        EVENTS,
      )
      const executed = own.find(({ type }) => type === 'executed')?.data
      deepEqual([executed?.['node'], executed?.['display_node']], ['9', '9'])
      const last = own.findLast(({ type }) => type === 'progress_state')?.data['nodes']
      deepEqual((last as Record<string, unknown>)['9'], {
        value: 1,
        max: 1,
        state: 'finished',
        node_id: '9',
        prompt_id: own[0]?.data['prompt_id'],
        display_node_id: '9',
        // oxlint-disable-next-line unicorn/no-null -- of JSON
        parent_node_id: null,
        real_node_id: '9',
      })
    },
  },
  {
    title: 'sends the steps of a node with a bar',
    needs: needsFaults,
    async run(subject) {
      const client = randomUUID()
      const socket = await subject.listen(client)
      const graph = makeFaultGraph(subject.picture, { mode: 'steps', seconds: 1, folder: unique() })
      const id = await subject.queued(graph, { client_id: client })
      await subject.ended(id)
      await waitFor('the last event', () => socket.events.at(-1)?.data['node'] === null)
      socket.close()
      const steps = socket.events.filter(({ type }) => type === 'progress').map(({ data }) => data)
      deepEqual(
        steps.map(({ value, max, prompt_id, node }) => [value, max, prompt_id, node]),
        [1, 2, 3, 4].map((value) => [value, 4, id, '2']),
      )
    },
  },
  {
    title: 'sends a socket that comes late the node that runs, and nothing of before',
    needs: needsFaults,
    async run(subject) {
      const client = randomUUID()
      const early = await subject.listen(client)
      const id = await subject.queued(slow(subject), { client_id: client })
      await waitFor('the first step', () => early.types().includes('progress'))
      const late = await subject.listen(client)
      await waitFor('the node', () => late.events.length > 1)
      deepEqual(
        late.events.slice(0, 2).map(({ type, data }) => [type, data['node']]),
        [
          ['status', undefined],
          ['executing', '2'],
        ],
      )
      equal(late.events[1]?.data['prompt_id'], undefined)
      early.close()
      late.close()
      await subject.interrupted(id)
    },
  },
  {
    title: 'leaves the first socket of a client silent and open when a second one comes',
    async run(subject) {
      const client = randomUUID()
      const first = await subject.listen(client)
      await waitFor('the status', () => first.events.length > 0)
      const second = await subject.listen(client)
      await waitFor('the status', () => second.events.length > 0)
      const count = first.events.length
      await subject.run(makeGraph(subject.picture, unique()), { client_id: client })
      await waitFor('the end', () => second.events.at(-1)?.data['node'] === null)
      deepEqual([first.events.length, first.isOpen()], [count, true])
      first.close()
      second.close()
    },
  },
  {
    title: 'sends progress to everybody where a prompt names no client, and no more of it',
    async run(subject) {
      const socket = await subject.listen(randomUUID())
      await waitFor('the status', () => socket.events.length > 0)
      const id = await subject.queued(makeGraph(subject.picture, unique()))
      await subject.ended(id)
      // It comes with the connection, the prompt in the queue, its beginning and its end.
      await waitFor('the last status', () => {
        const count = socket.types().filter((type) => type === 'status').length
        return count >= 4
      })
      socket.close()
      const types = new Set(socket.types())
      deepEqual([...types].toSorted(), ['progress_state', 'status'])
    },
  },
]
