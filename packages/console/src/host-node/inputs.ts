import type { Schema } from '../api/schema.ts'
import { isObject, readJson, writePlain, type Json, type JsonObject } from './read-json.ts'

export type HostNode = Schema<'HostNode'>

/** An input that is connected, or an output. */
export interface Slot {
  name: string
  /** As the pack wrote it. */
  type: string
  /** Its types, in upper case. */
  types: readonly string[]
  isOptional: boolean
  isList: boolean
}

export type WidgetKind = 'number' | 'combo' | 'toggle' | 'text' | 'area'

/** An input that is set on the host node itself. */
export interface Widget {
  name: string
  type: string
  kind: WidgetKind
  isOptional: boolean
  /** As the host shows it first. */
  value: string
  isOn: boolean
  /** Number of choices of a combo; undefined when they come from the user's machine. */
  choices: number | undefined
}

/** Parts of a host node that the host draws. */
export interface Card {
  title: string
  sockets: readonly Slot[]
  widgets: readonly Widget[]
  outputs: readonly Slot[]
  /** JSON texts that could not be read, by what they are. */
  unread: readonly { what: 'inputs' | 'outputs'; text: string }[]
}

/** Reads a host node as the host would draw it: what is required first, then what is optional, in the pack's own order. */
export const readCard = (node: HostNode): Card => {
  const rows = readInputs(node)
  const outputs = readOutputs(node)
  return {
    title: node.display_name || node.host_node_name,
    sockets: rows?.filter((row) => 'types' in row) ?? [],
    widgets: rows?.filter((row) => 'kind' in row) ?? [],
    outputs: outputs ?? [],
    unread: [
      ...(rows ? [] : [{ what: 'inputs' as const, text: node.input_types ?? '' }]),
      ...(outputs ? [] : [{ what: 'outputs' as const, text: node.return_types ?? '' }]),
    ],
  }
}

const readInputs = ({ input_types: text = '{}', dynamic }: HostNode) => {
  const sections = readJson(text)
  if (!isObject(sections)) return undefined
  const rows: (Slot | Widget)[] = []
  for (const section of ['required', 'optional']) {
    const given = sections.get(section) ?? new Map<string, Json>()
    if (!isObject(given)) return undefined
    for (const [name, spec] of given) {
      const isDynamic = dynamic.includes('input_types') || dynamic.includes(`input_types.${name}`)
      rows.push(...readInput({ name, spec, isDynamic, isOptional: section === 'optional' }))
    }
  }
  return rows
}

type Given = { name: string; spec: Json; isDynamic: boolean; isOptional: boolean }

/** A socket, or a widget, which may have a second row. */
const readInput = ({ name, spec, isDynamic, isOptional }: Given): (Slot | Widget)[] => {
  const [given = '*', second] = Array.isArray(spec) ? spec : [spec]
  const options: JsonObject = isObject(second) ? second : new Map<string, Json>()
  const type = typeOf(given)
  const kind = kindOf(type, options)
  if (kind === undefined) return [{ ...slotOf(name, type), isOptional, isList: false }]
  const list = kind === 'combo' ? choicesOf(given, options) : []
  const value = valueOf(type, options, list)
  const isOn = kind === 'toggle' && options.get('default') === true
  const choices = isDynamic && list.length === 0 ? undefined : list.length
  const widget = { name, type, kind, isOptional, value, isOn, choices }
  return hasControl(name, type, options) ? [widget, CONTROL] : [widget]
}

/** A list in place of a type is a combo. */
const typeOf = (given: Json): string =>
  Array.isArray(given) ? 'COMBO' : typeof given === 'string' ? given : '*'

const slotOf = (name: string, type: string) => ({
  name,
  type,
  types: type.split(',').map((one) => one.trim().toUpperCase()),
})

const kindOf = (type: string, options: JsonObject): WidgetKind | undefined => {
  if (options.get('forceInput') === true) return undefined
  if (type === 'STRING') return options.get('multiline') === true ? 'area' : 'text'
  return ({ INT: 'number', FLOAT: 'number', BOOLEAN: 'toggle', COMBO: 'combo' } as const)[type]
}

/** Returns the choices of a combo: in the place of its type, or among its options. */
const choicesOf = (given: Json, options: JsonObject): readonly Json[] => {
  const list = Array.isArray(given) ? given : options.get('options')
  return Array.isArray(list) ? list : []
}

const valueOf = (type: string, options: JsonObject, choices: readonly Json[]): string => {
  const value = options.get('default')
  if (type === 'INT' || type === 'FLOAT') return writeNumber(type, value ?? 0, options)
  if (type !== 'BOOLEAN') return writePlain(value ?? choices[0] ?? '')
  return writePlain(options.get(value === true ? 'label_on' : 'label_off') ?? value === true)
}

/** A FLOAT has as many places as its step, which is 0.5 unless given. */
const writeNumber = (type: string, value: Json, options: JsonObject): string => {
  if (type === 'INT' || typeof value !== 'number') return writePlain(value)
  const step = Number(options.get('step') ?? 0.5)
  const places = step > 0 ? Math.max(0, -Math.floor(Math.log10(step))) : 1
  return value.toFixed(Math.min(places, 20))
}

/** Row for what becomes of the number after each run. */
const CONTROL: Widget = {
  name: 'control after generate',
  type: 'COMBO',
  kind: 'combo',
  isOptional: false,
  value: 'randomize',
  isOn: false,
  choices: 4,
}

const SEEDS = ['seed', 'noise_seed']

const hasControl = (name: string, type: string, options: JsonObject): boolean =>
  Boolean(options.get('control_after_generate') ?? (type === 'INT' && SEEDS.includes(name)))

const readOutputs = (node: HostNode): Slot[] | undefined => {
  const types = readJson(node.return_types ?? '[]')
  if (!Array.isArray(types)) return undefined
  const names = readJson(node.return_names ?? '[]')
  return types.map((given, index) => {
    const type = typeOf(given)
    const name = Array.isArray(names) ? names[index] : undefined
    return {
      ...slotOf(typeof name === 'string' && name !== '' ? name : type, type),
      isOptional: false,
      isList: node.output_is_list[index] ?? false,
    }
  })
}

/** Rows of a card. */
export const countRows = ({ sockets, outputs, widgets }: Card): number =>
  Math.max(sockets.length, outputs.length) + widgets.length

/** The first rows of a card. */
export const cutRows = (card: Card, max: number): Card => {
  const slots = Math.max(card.sockets.length, card.outputs.length)
  return {
    ...card,
    sockets: card.sockets.slice(0, max),
    outputs: card.outputs.slice(0, max),
    widgets: card.widgets.slice(0, Math.max(0, max - slots)),
  }
}

export type Mark = 'gone' | 'come' | 'changed'

/** Results of a comparison for the rows of a card: inputs by name, outputs by index. */
export type Marks = { inputs: ReadonlyMap<string, Mark>; outputs: ReadonlyMap<number, Mark> }
