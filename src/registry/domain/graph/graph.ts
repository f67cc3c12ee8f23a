import type { Json, JsonObject } from '../comparison/read-json.ts'
import { isObject } from '../comparison/read-json.ts'

/**
 * A graph of host nodes as a user of the host has saved it: in the editor's form (`nodes` and `links`), with subgraphs
 * and group nodes, or in the API's form (nodes by id, each with `class_type`). Both are read into one form.
 */
export interface Graph {
  form: 'editor' | 'api'
  nodes: GraphNode[]
  /** Models that the editor has recorded for the whole. */
  models: JsonObject[]
  /** Parts that were left out, each as a sentence. */
  warnings: string[]
}

export interface GraphNode {
  /** As the host shows it; text, because ids of the API form are. */
  id: string
  title: string | undefined
  hostNode: string
  /** Name of the subgraph or group node that it is in. */
  within: string | undefined
  /** Neither muted nor bypassed: it runs. */
  isActive: boolean
  /** The pack that the host's editor has recorded as its source, by id or `owner/repository`, with its version. */
  pack: string | undefined
  version: string | undefined
  /** Values of its widgets, by position in the editor's form, by name in the API's; undefined where none are kept. */
  values: Json[] | JsonObject | undefined
  /** Models that the editor has recorded for it: name, directory, url, hash. */
  models: JsonObject[]
  inputs: Map<string, Source>
  outputs: Target[]
}

/** The output that an input is linked to. */
export interface Source {
  /** None where the form does not say. */
  types: readonly string[]
}

/** An input that an output is linked to. */
export interface Target {
  output: number
  /** Id and title of the host node at the other end. */
  node: string
  input: string
  types: readonly string[]
}

/** Host nodes of the editor alone: they reach no server. */
export const EDITOR_NODES: ReadonlySet<string> = new Set([
  'Reroute',
  'PrimitiveNode',
  'Note',
  'MarkdownNote',
])

/** Most host nodes that are read: the largest published graphs have some hundreds. */
export const NODES_MAX = 20_000

/** Characters of a text of the workflow that a response may repeat: names of host nodes have at most 512. */
const TEXT_MAX = 512

/** Cuts a text of the workflow, which may be as long as the request and stand in thousands of places of the response. */
export const cut = (text: string): string =>
  text.length > TEXT_MAX ? `${text.slice(0, TEXT_MAX - 1)}…` : text

/** The same of what is a text. */
export const cutTextOf = (value: Json | undefined): string | undefined => {
  const text = textOf(value)
  return text === undefined ? undefined : cut(text)
}

export const textOf = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** An id as a text; numbers and texts are ids. */
export const idOf = (value: Json | undefined): string | undefined =>
  typeof value === 'number' ? String(value) : textOf(value)

export const objectAt = (value: Json | undefined, name: string): JsonObject | undefined => {
  const member = isObject(value) ? value.get(name) : undefined
  return isObject(member) ? member : undefined
}

export const objectsAt = (value: Json | undefined, name: string): JsonObject[] =>
  listAt(value, name).filter(isObject)

export const listAt = (value: Json | undefined, name: string): readonly Json[] => {
  const member = isObject(value) ? value.get(name) : undefined
  return Array.isArray(member) ? member : []
}
