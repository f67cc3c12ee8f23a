import { isObject, type Json, type JsonObject } from '../comparison/read-json.ts'
import { isEditorForm, readEditorForm } from './editor-form.ts'
import { cut, cutTextOf, idOf, objectAt, type Graph, type GraphNode } from './graph.ts'

/** The expectation of a body, for the sentence that rejects another. */
export const EXPECTED =
  'a workflow as the host saves it (an object with a list "nodes") or exports it for its API (host nodes by id, each with "class_type")'

/** Reads a saved workflow in any of its forms; undefined for what is none. A request to the host holds one as `prompt`. */
export const readGraph = (value: Json): Graph | undefined => {
  if (isEditorForm(value)) return readEditorForm(value)
  if (isApiForm(value)) return readApiForm(value)
  const prompt = isObject(value) ? value.get('prompt') : undefined
  return prompt !== undefined && isApiForm(prompt) ? readApiForm(prompt) : undefined
}

/** A graph in the form of the host's API: every member is a host node with its class. */
const isApiForm = (value: Json): value is JsonObject =>
  isObject(value) &&
  value.size > 0 &&
  [...value.values()].every((node) => isObject(node) && typeof node.get('class_type') === 'string')

/** Reads a graph in the form of the API: an input is a value, or the id and output of another host node. */
const readApiForm = (prompt: JsonObject): Graph => {
  const nodes = new Map([...prompt].map(([id, node]) => [id, readNode(id, node)]))
  for (const [id, given] of prompt)
    for (const [input, value] of objectAt(given, 'inputs') ?? []) {
      const source = readLink(value, nodes)
      if (!source) continue
      nodes.get(id)?.inputs.set(input, { types: [] })
      const { output, from } = source
      from.outputs.push({ output, node: cut(id), input: cut(input), types: [] })
    }
  return { form: 'api', nodes: [...nodes.values()], models: [], warnings: [] }
}

const readNode = (id: string, given: Json): GraphNode => ({
  id: cut(id),
  title: cutTextOf(objectAt(given, '_meta')?.get('title')),
  hostNode: (isObject(given) && cutTextOf(given.get('class_type'))) || '',
  within: undefined,
  isActive: true,
  pack: undefined,
  version: undefined,
  values: objectAt(given, 'inputs') ?? new Map(),
  models: [],
  inputs: new Map(),
  outputs: [],
})

const readLink = (value: Json, nodes: ReadonlyMap<string, GraphNode>) => {
  if (!Array.isArray(value) || value.length !== 2) return undefined
  const [id, output] = value
  const from = nodes.get(idOf(id) ?? '')
  return from && typeof output === 'number' ? { output, from } : undefined
}
