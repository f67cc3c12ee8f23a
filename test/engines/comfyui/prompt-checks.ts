import { deepEqual, equal, match, notEqual, ok } from 'node:assert/strict'
import { randomUUID } from 'node:crypto'

import { listSaved, makeFaultGraph, makeGraph } from '../../support/comfyui/bare-client.ts'
import type { Graph } from '../../support/comfyui/validate.ts'
import type { HistoryEntry } from '../../support/comfyui/worker.ts'
import { needsFaults, unique } from './subject.ts'
import type { Check, Subject } from './subject.ts'

interface Queued {
  prompt_id: string
  number: number
  node_errors: Record<string, unknown>
}

interface Rejected {
  error: { type: string; message: string; details: string }
  node_errors: Record<
    string,
    {
      errors: {
        type: string
        message: string
        details: string
        extra_info: { input_name?: string; input_config?: [unknown, { max?: number }] }
      }[]
      dependent_outputs: string[]
      class_type: string
    }
  >
}

/** Ids of the nodes whose results were in the cache. */
const listCached = ({ status }: HistoryEntry): unknown => {
  const [, data] = status.messages.find(([type]) => type === 'execution_cached') ?? []
  const nodes = data?.['nodes'] as string[] | undefined
  return nodes?.toSorted()
}

/** Changes one node of a good graph. */
const change = (subject: Subject, id: string, inputs: Record<string, unknown>): Graph => {
  const graph = makeGraph(subject.picture, unique())
  const node = graph[id]
  if (node) graph[id] = { ...node, inputs: { ...node.inputs, ...inputs } }
  return graph
}

const without = (subject: Subject, id: string, input: string): Graph => {
  const graph = makeGraph(subject.picture, unique())
  delete graph[id]?.inputs[input]
  return graph
}

/** Graphs that are rejected, with the type of the error and, where it is of a node, the node and its own error. */
const REJECTED: readonly {
  what: string
  make: (subject: Subject) => unknown
  type: string
  node?: string
  nodeError?: string
  details?: RegExp
  /** Input that the error names, and its maximum. */
  limit?: [input: string, max: number]
}[] = [
  {
    what: 'a class that is not installed',
    make: (subject) => ({
      ...makeGraph(subject.picture, unique()),
      3: { class_type: 'NoSuchNode', inputs: {} },
    }),
    type: 'invalid_prompt',
    details: /^Cannot execute because node NoSuchNode does not exist\.: Node ID '#3'$/,
  },
  {
    what: 'a node without a class',
    make: () => ({ 1: { inputs: {} } }),
    type: 'invalid_prompt',
    details: /: Node ID '#1'$/,
  },
  {
    what: 'a graph without an output node',
    make: ({ picture }) => ({ 1: { class_type: 'LoadImage', inputs: { image: picture } } }),
    type: 'prompt_no_outputs',
  },
  { what: 'an empty graph', make: () => ({}), type: 'prompt_no_outputs' },
  { what: 'an empty list', make: () => [], type: 'prompt_no_outputs' },
  {
    what: 'a picture that was not uploaded',
    make: (subject) => change(subject, '1', { image: 'missing.png' }),
    type: 'prompt_outputs_failed_validation',
    node: '1',
    nodeError: 'custom_validation_failed',
    details: /image - Invalid image file: missing\.png/,
  },
  {
    what: 'a picture above the input folder',
    make: (subject) => change(subject, '1', { image: '../../etc/passwd' }),
    type: 'prompt_outputs_failed_validation',
    node: '1',
    nodeError: 'custom_validation_failed',
  },
  {
    what: 'a number above its maximum',
    make: (subject) => change(subject, '2', { blur_radius: 32 }),
    type: 'prompt_outputs_failed_validation',
    node: '2',
    nodeError: 'value_bigger_than_max',
    details: /^Value 32 bigger than max of 31: blur_radius$/,
    limit: ['blur_radius', 31],
  },
  {
    what: 'a number below its minimum',
    make: (subject) => change(subject, '2', { sigma: 0 }),
    type: 'prompt_outputs_failed_validation',
    node: '2',
    nodeError: 'value_smaller_than_min',
    details: /^Value 0\.0 smaller than min of 0\.1: sigma$/,
  },
  {
    what: 'a word where a number belongs',
    make: (subject) => change(subject, '2', { blur_radius: 'wide' }),
    type: 'prompt_outputs_failed_validation',
    node: '2',
    nodeError: 'invalid_input_type',
  },
  {
    what: 'a required input that is missing',
    make: (subject) => without(subject, '2', 'sigma'),
    type: 'prompt_outputs_failed_validation',
    node: '2',
    nodeError: 'required_input_missing',
  },
  {
    what: 'a link of another type',
    make: (subject) => change(subject, '2', { image: ['1', 1] }),
    type: 'prompt_outputs_failed_validation',
    node: '2',
    nodeError: 'return_type_mismatch',
    details: /image, received_type\(MASK\) mismatch input_type\(IMAGE\)/,
  },
  {
    what: 'a choice that an old class does not list',
    make: (subject) => ({
      1: { class_type: 'LoadImage', inputs: { image: subject.picture } },
      2: {
        class_type: 'ImageScaleBy',
        inputs: { image: ['1', 0], upscale_method: 'magic', scale_by: 2 },
      },
      9: { class_type: 'SaveImage', inputs: { images: ['2', 0], filename_folder: unique() } },
    }),
    type: 'prompt_outputs_failed_validation',
    node: '2',
    nodeError: 'value_not_in_list',
    details: /upscale_method: 'magic' not in \['nearest-exact', 'bilinear'/,
  },
  {
    what: 'a link to a node that is not there',
    make: (subject) => change(subject, '2', { image: ['7', 0] }),
    type: 'prompt_outputs_failed_validation',
    node: '2',
    nodeError: 'exception_during_inner_validation',
  },
]

export const PROMPT_CHECKS: readonly Check[] = [
  {
    title: 'queues a graph under the id of the caller',
    async run(subject) {
      const id = randomUUID()
      const prompt = makeGraph(subject.picture, unique())
      const { status, json } = await subject.post<Queued>('/prompt', { prompt, prompt_id: id })
      equal(status, 200)
      equal(json.prompt_id, id)
      ok(Number.isInteger(json.number))
      deepEqual(json.node_errors, {})
      await subject.ended(id)
    },
  },
  {
    title: 'takes any id, and makes text of it',
    versions: 'without jobs',
    async run(subject) {
      for (const [given, id] of [
        [7, '7'],
        // oxlint-disable-next-line unicorn/no-null -- of JSON
        [null, 'None'],
        ['any text', 'any text'],
      ]) {
        const prompt = makeGraph(subject.picture, unique())
        const { json } = await subject.post<Queued>('/prompt', { prompt, prompt_id: given })
        equal(json.prompt_id, id)
      }
      await subject.ended('7')
    },
  },
  {
    title: 'takes canonical UUIDs alone, and makes one where none is given',
    versions: 'with jobs',
    async run(subject) {
      const prompt = makeGraph(subject.picture, unique())
      for (const id of [7, 'any text', randomUUID().toUpperCase()]) {
        const { status, json } = await subject.post<Rejected>('/prompt', { prompt, prompt_id: id })
        deepEqual([status, json.error.type], [400, 'invalid_prompt_id'])
      }
      const { json } = await subject.post<Queued>('/prompt', { prompt })
      match(json.prompt_id, /^[\da-f-]{36}$/)
      await subject.ended(json.prompt_id)
    },
  },
  {
    title: 'counts the prompts',
    async run(subject) {
      const numbers: number[] = []
      for (let count = 0; count < 3; count += 1) {
        const prompt = makeGraph(subject.picture, unique())
        const { json } = await subject.post<Queued>('/prompt', { prompt })
        numbers.push(json.number)
        await subject.ended(json.prompt_id)
      }
      const [first = 0] = numbers
      deepEqual(numbers, [first, first + 1, first + 2])
    },
  },
  {
    title: 'queues an id twice that it gets twice, and deletes one of the two',
    needs: needsFaults,
    async run(subject) {
      const holding = await subject.queued(
        makeFaultGraph(subject.picture, { mode: 'steps', seconds: 600, folder: unique() }),
      )
      await subject.running(holding)
      const id = randomUUID()
      const prompt = makeGraph(subject.picture, unique())
      for (let count = 0; count < 2; count += 1)
        equal((await subject.post('/prompt', { prompt, prompt_id: id })).status, 200)
      const count = async () =>
        (await subject.queue()).queue_pending.filter((item) => item[1] === id).length
      equal(await count(), 2)
      equal((await subject.post('/queue', { delete: [id] })).status, 200)
      equal(await count(), 1)
      await subject.interrupted(holding)
      equal((await subject.ended(id)).status.status_str, 'success')
    },
  },
  {
    title: 'responds from its cache to an equal graph: the same names, and nothing is written',
    async run(subject) {
      const graph = makeGraph(subject.picture, unique())
      const first = await subject.run(structuredClone(graph))
      const second = await subject.run(structuredClone(graph))
      deepEqual(listSaved(second), listSaved(first))
      deepEqual(listCached(second), ['1', '2', '9'])
    },
  },
  {
    title: 'saves again under another prefix, with the nodes before from its cache',
    async run(subject) {
      const first = await subject.run(makeGraph(subject.picture, unique()))
      const second = await subject.run(makeGraph(subject.picture, unique()))
      notEqual(listSaved(second)[0]?.subfolder, listSaved(first)[0]?.subfolder)
      deepEqual(listCached(second), ['1', '2'])
    },
  },
  {
    title: 'ignores an input that the class does not have',
    async run(subject) {
      const entry = await subject.run(change(subject, '2', { strength: 'much' }))
      equal(entry.status.status_str, 'success')
    },
  },
  ...REJECTED.map(({ what, make, type, node, nodeError, details, limit }) => ({
    title: `rejects ${what}`,
    async run(subject: Subject) {
      const { status, json } = await subject.post<Rejected>('/prompt', { prompt: make(subject) })
      equal(status, 400)
      equal(json.error.type, type)
      const found = node === undefined ? json.error : json.node_errors[node]?.errors[0]
      match(`${found?.message}: ${found?.details}`, details ?? /(?:)/)
      if (node === undefined) return deepEqual(json.node_errors, {})
      equal(found?.type, nodeError)
      deepEqual(json.node_errors[node]?.dependent_outputs, ['9'])
      const { input_name: input, input_config: config } =
        json.node_errors[node]?.errors[0]?.extra_info ?? {}
      if (limit) deepEqual([input, config?.[1].max], limit)
    },
  })),
  {
    title: 'rejects a body without a graph',
    async run(subject) {
      const { status, json } = await subject.post<Rejected>('/prompt', { prompt_id: randomUUID() })
      deepEqual([status, json.error.type], [400, 'no_prompt'])
    },
  },
  {
    title: 'rejects a cycle',
    async run(subject) {
      const { status } = await subject.post('/prompt', {
        prompt: change(subject, '2', { image: ['2', 0] }),
      })
      equal(status, 400)
    },
  },
  {
    title: 'responds 500 with text to what it cannot read',
    async run(subject) {
      for (const body of ['{"prompt":', '', 'null', '{"prompt":"text"}', '{"number":"x"}']) {
        const { status, text } = await subject.post('/prompt', body)
        equal(status, 500, body)
        match(text, /^500 Internal Server Error/)
      }
    },
  },
  {
    title: 'queues the valid one of two outputs, and lists the errors of the other',
    async run(subject) {
      const graph = makeGraph(subject.picture, unique())
      graph['3'] = { class_type: 'LoadImage', inputs: { image: 'missing.png' } }
      graph['8'] = {
        class_type: 'SaveImage',
        inputs: { images: ['3', 0], filename_folder: unique() },
      }
      const { status, json } = await subject.post<Queued & Rejected>('/prompt', { prompt: graph })
      equal(status, 200)
      equal(json.node_errors['3']?.errors[0]?.type, 'custom_validation_failed')
      const entry = await subject.ended(json.prompt_id)
      equal(entry.status.status_str, 'success')
      deepEqual(Object.keys(entry.outputs), ['9'])
    },
  },
  {
    title: 'takes an absolute path as a picture, and fails at a file that is none',
    async run(subject) {
      const entry = await subject.run(change(subject, '1', { image: '/etc/hostname' }))
      equal(entry.status.status_str, 'error')
      equal(entry.status.messages.at(-1)?.[1]['exception_type'], 'PIL.UnidentifiedImageError')
    },
  },
  {
    title: 'rejects a model that is not there',
    async run(subject) {
      const prompt = {
        1: { class_type: 'LoadImage', inputs: { image: subject.picture } },
        2: { class_type: 'UpscaleModelLoader', inputs: { model_name: 'missing.safetensors' } },
        3: {
          class_type: 'ImageUpscaleWithModel',
          inputs: { upscale_model: ['2', 0], image: ['1', 0] },
        },
        9: { class_type: 'SaveImage', inputs: { images: ['3', 0], filename_folder: unique() } },
      }
      const { status, json } = await subject.post<Rejected>('/prompt', { prompt })
      equal(status, 400)
      equal(json.node_errors['2']?.errors[0]?.type, 'value_not_in_list')
    },
  },
  {
    title: 'rejects a request of another origin',
    async run(subject) {
      const headers = { origin: 'http://example.com' }
      equal((await subject.send('GET', '/queue', { headers })).status, 403)
    },
  },
]
