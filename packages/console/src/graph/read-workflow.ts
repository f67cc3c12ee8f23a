import { layOut } from './lay-out.ts'

/** A node of a workflow as it is drawn: `x` and `y` are the corner at the top left, below its title. */
export interface DrawnNode {
  /** The same as that of a change: see `keyOf`. */
  key: string
  id: string
  title: string
  /** Name of its class; of a subgraph, its id. */
  type: string
  /** Name of the part that it stands for, where it is a subgraph or a group node. */
  inner: string | undefined
  /** The pack and the version that it was saved with. */
  pack: string | undefined
  version: string | undefined
  x: number
  y: number
  width: number
  height: number
}

export interface DrawnLink {
  from: DrawnNode
  output: number
  to: DrawnNode
  input: number
  type: string
}

/** The workflow itself, or one of its subgraphs and group nodes, which have a name. */
export interface Part {
  name: string | undefined
  nodes: readonly DrawnNode[]
  links: readonly DrawnLink[]
}

export const keyOf = ({ id, within }: { id: string; within?: string }): string =>
  `${within ?? ''}#${id}`

const WIDTH = 210
export const TITLE = 30
export const SLOT = 20

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const fieldsAt = (value: unknown, name: string): Fields => {
  const member = isFields(value) ? value[name] : undefined
  return isFields(member) ? member : {}
}
const listAt = (value: unknown, name: string): readonly unknown[] => {
  const member = isFields(value) ? value[name] : undefined
  return Array.isArray(member) ? member : []
}
const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined
const idOf = (value: unknown): string | undefined =>
  typeof value === 'number' ? String(value) : textOf(value)

/** Reads a workflow in the form of the host's editor or of its API, the workflow itself first; undefined for what is none. */
export const readWorkflow = (value: unknown): Part[] | undefined => {
  if (isFields(value) && Array.isArray(value['nodes'])) return readEditorForm(value)
  const prompt = isApiForm(value) ? value : fieldsAt(value, 'prompt')
  return isApiForm(prompt) ? [readApiForm(prompt)] : undefined
}

const isApiForm = (value: unknown): value is Fields =>
  isFields(value) &&
  Object.values(value).length > 0 &&
  Object.values(value).every((node) => isFields(node) && typeof node['class_type'] === 'string')

const readEditorForm = (workflow: Fields): Part[] => {
  const subgraphs = listAt(workflow['definitions'], 'subgraphs').flatMap((given) => {
    const id = isFields(given) ? textOf(given['id']) : undefined
    return id === undefined ? [] : [[id, textOf((given as Fields)['name']) ?? id, given] as const]
  })
  const groups = Object.entries(fieldsAt(workflow['extra'], 'groupNodes'))
  const names = new Map([
    ...subgraphs.map(([id, name]) => [id, name] as const),
    ...groups.flatMap(([name]) => [`workflow/${name}`, `workflow>${name}`].map((id) => [id, name])),
  ] as [string, string][])
  return [
    readPart(workflow, { names }),
    ...subgraphs.map(([, name, given]) => readPart(given, { names, name })),
    ...groups.map(([name, given]) => readPart(given, { names, name, isGroup: true })),
  ]
}

interface Inside {
  names: ReadonlyMap<string, string>
  name?: string
  isGroup?: boolean
}

const readPart = (given: unknown, { names, name, isGroup = false }: Inside): Part => {
  const nodes = listAt(given, 'nodes').flatMap((node, index) => {
    const type = isFields(node) ? textOf(node['type']) : undefined
    if (!isFields(node) || type === undefined) return []
    const id = idOf(node['id']) ?? idOf(node['index']) ?? String(index)
    const inner = names.get(type)
    const properties = fieldsAt(node, 'properties')
    const own = {
      key: keyOf({ id, ...(name !== undefined && { within: name }) }),
      id,
      title: textOf(node['title']) ?? inner ?? type,
      type,
      inner,
      pack: textOf(properties['cnr_id']),
      version: textOf(properties['ver']),
    }
    return [{ ...own, ...readPlace(node) }]
  })
  const links = listAt(given, 'links').map((link) => readLink(link, isGroup))
  return connect(name, nodes, links)
}

/** Names of both ends, and the places of their slots. */
type Link = readonly [from: unknown, output: unknown, to: unknown, input: unknown, type: unknown]

const MEMBERS = ['origin_id', 'origin_slot', 'target_id', 'target_slot', 'type'] as const

/** The editor's older form is a list with an id in front, that of group nodes one without; the newer form is an object. */
const readLink = (link: unknown, isGroup: boolean): Link => {
  const given = Array.isArray(link) ? link : []
  if (isFields(link)) return MEMBERS.map((name) => link[name]) as unknown as Link
  return (isGroup ? [...given.slice(0, 4), given[5]] : given.slice(1)) as unknown as Link
}

type Unplaced = Omit<DrawnNode, 'x' | 'y'> & Partial<Pick<DrawnNode, 'x' | 'y'>>

const connect = (name: string | undefined, given: Unplaced[], ends: readonly Link[]): Part => {
  const places = new Map(given.map(({ id }, index) => [id, index]))
  const known = ends.flatMap(([from, output, to, input, type]) => {
    const [start, end] = [places.get(idOf(from) ?? ''), places.get(idOf(to) ?? '')]
    if (start === undefined || end === undefined) return []
    const slots = { output: Number(output) || 0, input: Number(input) || 0 }
    return [{ start, end, ...slots, type: textOf(type) ?? '*' }]
  })
  const isPlaced = given.every(({ x }) => x !== undefined)
  const nodes = (isPlaced ? given : layOut(given, known)) as DrawnNode[]
  const links = known.flatMap(({ start, end, ...slots }) => {
    const [from, to] = [nodes[start], nodes[end]]
    return from && to ? [{ from, to, ...slots }] : []
  })
  return { name, nodes, links }
}

/** Farther than anybody draws; a picture of more has no point that can be seen. */
const FAR = 1_000_000

const isNear = (value: unknown): value is number =>
  typeof value === 'number' && Math.abs(value) < FAR

/** A pair of numbers as the editor saves it: a list, or an object with the members 0 and 1. */
const readPair = (value: unknown): [number, number] | undefined => {
  if (typeof value !== 'object' || value === null) return undefined
  const { 0: first, 1: second } = value as { 0?: unknown; 1?: unknown }
  return isNear(first) && isNear(second) ? [first, second] : undefined
}

const readPlace = (node: Fields) => {
  const [x, y] = readPair(node['pos']) ?? []
  const [width = WIDTH, height = 2 * SLOT] = readPair(node['size']) ?? []
  const isCollapsed = fieldsAt(node, 'flags')['collapsed'] === true
  return {
    ...(x !== undefined && y !== undefined && { x, y }),
    width: isCollapsed ? 140 : Math.max(width, 40),
    height: isCollapsed ? 0 : Math.max(height, 0),
  }
}

/** An input of the API's form is a value, or the id and the output of another node. Neither has a place. */
const readApiForm = (prompt: Fields): Part => {
  const links: Link[] = []
  const nodes = Object.entries(prompt).map(([id, node]) => {
    const type = String((node as Fields)['class_type'])
    const inputs = Object.values(fieldsAt(node, 'inputs'))
    for (const [index, value] of inputs.entries())
      if (Array.isArray(value) && value.length === 2)
        links.push([value[0], value[1], id, index, '*'])
    return {
      key: keyOf({ id }),
      id,
      title: textOf(fieldsAt(node, '_meta')['title']) ?? type,
      type,
      inner: undefined,
      pack: undefined,
      version: undefined,
      width: WIDTH,
      height: SLOT * Math.max(2, inputs.length),
    }
  })
  return connect(undefined, nodes, links)
}
