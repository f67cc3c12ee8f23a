import { splitTypes } from '../comparison/host-node-form.ts'
import { isObject, type Json, type JsonObject } from '../comparison/read-json.ts'
import {
  NODES_MAX,
  cut,
  cutTextOf,
  idOf,
  listAt,
  objectAt,
  objectsAt,
  textOf,
  type Graph,
  type GraphNode,
  type Source,
  type Target,
} from './graph.ts'

export const isEditorForm = (value: Json): value is JsonObject =>
  isObject(value) && Array.isArray(value.get('nodes'))

/** Reads a graph in the form of the host's editor. Each subgraph and group node in use is read once, however often it is used. */
export const readEditorForm = (workflow: JsonObject): Graph => {
  const models = objectsAt(workflow, 'models')
  const graph: Graph = { form: 'editor', nodes: [], models, warnings: [] }
  const inner = readDefinitions(workflow)
  const waiting = new Set<Part>([{ name: undefined, place: '', given: workflow }])
  for (const part of waiting)
    for (const type of readPart(graph, part, inner)) {
      const used = inner.get(type)
      // A set gives what is added to it while it is walked, and each once.
      if (used) waiting.add(used)
    }
  return graph
}

/** The workflow itself, a subgraph or a group node. */
interface Part {
  name: string | undefined
  /** JSON Pointer of it. */
  place: string
  given: JsonObject
  isGroup?: boolean
}

/** Subgraphs by their id and group nodes by their name, as the type of a host node names them. */
const readDefinitions = (workflow: JsonObject): Map<string, Part> => {
  const parts = new Map<string, Part>()
  for (const [index, given] of listAt(workflow.get('definitions'), 'subgraphs').entries()) {
    const id = isObject(given) ? textOf(given.get('id')) : undefined
    if (!isObject(given) || !id) continue
    const name = cut(textOf(given.get('name')) ?? id)
    parts.set(id, { name, place: `/definitions/subgraphs/${index}`, given })
  }
  for (const [name, given] of objectAt(workflow.get('extra'), 'groupNodes') ?? [])
    if (isObject(given)) {
      const shown = cut(name)
      const part = { name: shown, place: `/extra/groupNodes/${shown}`, given, isGroup: true }
      for (const type of [`workflow/${name}`, `workflow>${name}`]) parts.set(type, part)
    }
  return parts
}

/** Adds the host nodes of one part, and lists the types that it uses. */
const readPart = (
  graph: Graph,
  { name: within, place, given, isGroup = false }: Part,
  inner: ReadonlyMap<string, Part>,
): string[] => {
  const slots = new Map<string, Slots>()
  const types: string[] = []
  for (const [index, node] of listAt(given, 'nodes').entries()) {
    const type = isObject(node) ? textOf(node.get('type')) : undefined
    const at = `${place}/nodes/${index}`
    if (!isObject(node) || type === undefined) {
      graph.warnings.push(`${at} has no type, and is left out.`)
      continue
    }
    if (graph.nodes.length >= NODES_MAX) {
      graph.warnings.push(`${at} and what follows are left out: more than ${NODES_MAX} nodes.`)
      break
    }
    types.push(type)
    // A group node has no ids: its links name places.
    const id = idOf(node.get('id')) ?? idOf(node.get('index')) ?? String(index)
    const read = readNode(node, { id, type, within })
    slots.set(id, { read, inputs: listAt(node, 'inputs'), outputs: listAt(node, 'outputs') })
    if (!inner.has(type)) graph.nodes.push(read)
  }
  const links = listAt(given, 'links').map((link) => readLink(link, isGroup))
  connect(
    links.filter((link) => link !== undefined),
    slots,
  )
  return types
}

interface Slots {
  read: GraphNode
  inputs: readonly Json[]
  outputs: readonly Json[]
}

const [MUTED, BYPASSED] = [2, 4]

const readNode = (
  node: JsonObject,
  { id, type, within }: { id: string; type: string; within: string | undefined },
): GraphNode => {
  const properties = objectAt(node, 'properties')
  const mode = node.get('mode')
  const values = node.get('widgets_values')
  return {
    id: cut(id),
    title: cutTextOf(node.get('title')),
    hostNode: cut(type),
    within,
    isActive: mode !== MUTED && mode !== BYPASSED,
    pack: cutTextOf(properties?.get('cnr_id')) ?? cutTextOf(properties?.get('aux_id')),
    version: cutTextOf(properties?.get('ver')),
    values: Array.isArray(values) || isObject(values) ? values : undefined,
    models: objectsAt(properties, 'models'),
    inputs: new Map(),
    outputs: [],
  }
}

interface Link {
  from: string
  output: number
  to: string
  slot: number
  type: Json | undefined
}

/** Reads a list of the editor's older form or an object of its newer. Lists of group nodes have an id in the middle. */
const readLink = (link: Json, isGroup: boolean): Link | undefined => {
  if (isObject(link))
    return toLink(
      ['origin_id', 'origin_slot', 'target_id', 'target_slot', 'type'].map((name) =>
        link.get(name),
      ),
    )
  if (!Array.isArray(link)) return undefined
  return toLink(isGroup ? [...link.slice(0, 4), link[5]] : link.slice(1))
}

const toLink = ([from, output, to, slot, type]: readonly (Json | undefined)[]) => {
  const ends = [idOf(from), idOf(to)] as const
  if (ends[0] === undefined || ends[1] === undefined) return undefined
  return { from: ends[0], output: Number(output), to: ends[1], slot: Number(slot), type }
}

/** The links of one part, by both ends. */
interface Wiring {
  slots: ReadonlyMap<string, Slots>
  leaving: ReadonlyMap<string, readonly Link[]>
  arriving: ReadonlyMap<string, Link>
  /** Steps that are still walked: reroutes that are made up may fan out without end. */
  steps: number
  /** Types of an end of a link by their text, which as many links as there are may share. */
  types: Map<Json | undefined, readonly string[]>
}

/** Characters of the types of one end: no host node has more, and links are compared type by type. A longer text takes any. */
const TYPES_MAX = 1_000

const typesOf = ({ types }: Wiring, type: Json | undefined): readonly string[] => {
  const isLong = typeof type === 'string' && type.length > TYPES_MAX
  const known = types.get(type) ?? splitTypes(isLong ? undefined : type)
  types.set(type, known)
  return known
}

const STEPS_MAX = 200_000

/** Writes each link to the host nodes at its ends. Behind a reroute it goes on to where that leads. */
const connect = (links: readonly Link[], slots: ReadonlyMap<string, Slots>): void => {
  const leaving = new Map<string, Link[]>()
  for (const link of links) {
    const others = leaving.get(link.from)
    if (others) others.push(link)
    else leaving.set(link.from, [link])
  }
  const arriving = new Map(links.map((link) => [link.to, link]))
  const wiring: Wiring = { slots, leaving, arriving, steps: STEPS_MAX, types: new Map() }
  for (const link of links) {
    const [from, to] = [slots.get(link.from), slots.get(link.to)]
    const input = slotName(to?.inputs[link.slot])
    if (to && input !== undefined) to.read.inputs.set(input, sourceOf(wiring, link))
    if (!from || isReroute(from)) continue
    for (const end of endsOf(wiring, link)) from.read.outputs.push({ ...end, output: link.output })
  }
}

const isReroute = (slot: Slots | undefined): boolean => slot?.read.hostNode === 'Reroute'

const endsOf = (wiring: Wiring, first: Link): Omit<Target, 'output'>[] => {
  const { slots, leaving } = wiring
  const ends: Omit<Target, 'output'>[] = []
  if (wiring.steps <= 0) return ends
  // A set gives what is added to it while it is walked, and each once.
  const waiting = new Set([first])
  for (const link of waiting) {
    if ((wiring.steps -= 1) < 0) break
    const to = slots.get(link.to)
    if (isReroute(to)) for (const next of leaving.get(link.to) ?? []) waiting.add(next)
    else {
      const slot = to?.inputs[link.slot]
      const types = typesOf(wiring, isObject(slot) ? slot.get('type') : undefined)
      ends.push({ node: cut(link.to), input: cut(slotName(slot) ?? String(link.slot)), types })
    }
  }
  return ends
}

const sourceOf = (wiring: Wiring, link: Link): Source => {
  const { slots, arriving } = wiring
  const seen = new Set<Link>()
  let first = link
  while (isReroute(slots.get(first.from)) && !seen.has(first)) {
    if (wiring.steps <= 0) break
    wiring.steps -= 1
    seen.add(first)
    first = arriving.get(first.from) ?? first
  }
  const slot = slots.get(first.from)?.outputs[first.output]
  return { types: typesOf(wiring, (isObject(slot) ? slot.get('type') : undefined) ?? first.type) }
}

const slotName = (slot: Json | undefined): string | undefined =>
  isObject(slot) ? textOf(slot.get('name')) : undefined
