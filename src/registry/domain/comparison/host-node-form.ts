import type { HostNodePolicy } from '../host-node.ts'
import { isObject, plain, readJson, writeJson, type Json, type JsonObject } from './read-json.ts'

/** Texts of a stored host node that a comparison needs. */
export interface HostNodeText {
  display_name: string | null
  category: string | null
  description: string | null
  deprecated: boolean
  experimental: boolean
  /** Null where nothing said so. */
  output_node: boolean | null
  input_types: string | null
  return_types: string | null
  return_names: string | null
  output_is_list: boolean[]
  dynamic: string[]
  policy: HostNodePolicy
}

export interface InputForm {
  name: string
  isRequired: boolean
  /** In upper case, as the host compares them. */
  types: string[]
  hasWidget: boolean
  /** Further rows beside its widget: one says what becomes of a seed after each run. */
  hasControl: boolean
  /** Values that a combo offers. */
  choices: string[] | undefined
  options: JsonObject
  /** The whole of it as JSON. */
  text: string
}

export interface OutputForm {
  types: string[]
  name: string | undefined
  isList: boolean
}

/** Reads the inputs in the order of their rows: required ones, then optional ones. */
export const readInputs = ({ input_types: text }: HostNodeText): InputForm[] | undefined => {
  const sections = readJson(text ?? '{}')
  if (!isObject(sections)) return undefined
  const inputs = new Map<string, InputForm>()
  for (const section of ['required', 'optional']) {
    const given = sections.get(section) ?? new Map<string, Json>()
    if (!isObject(given)) return undefined
    for (const [name, spec] of given)
      inputs.set(name, readInput(name, spec, section === 'required'))
  }
  return [...inputs.values()]
}

const WIDGETS = ['INT', 'FLOAT', 'BOOLEAN', 'STRING', 'COMBO']
const SEEDS = ['seed', 'noise_seed']

const readInput = (name: string, spec: Json, isRequired: boolean): InputForm => {
  const [type = '*', given] = Array.isArray(spec) ? spec : [spec]
  const options = isObject(given) ? given : new Map<string, Json>()
  const types = typesOf(type)
  const [only = ''] = types
  const choices = Array.isArray(type) ? type : options.get('options')
  const hasWidget =
    types.length === 1 && WIDGETS.includes(only) && options.get('forceInput') !== true
  return {
    name,
    isRequired,
    types,
    hasWidget,
    hasControl:
      hasWidget &&
      Boolean(options.get('control_after_generate') ?? (only === 'INT' && SEEDS.includes(name))),
    choices: only === 'COMBO' && Array.isArray(choices) ? choices.map(plain) : undefined,
    options,
    text: writeJson(spec),
  }
}

/** A list in place of a type is a combo. */
const typesOf = (type: Json): string[] => (Array.isArray(type) ? ['COMBO'] : splitTypes(type))

/** Splits the types of one place, in upper case as the host compares them. What is no text takes any. */
export const splitTypes = (type: Json | undefined): string[] =>
  typeof type === 'string' ? type.split(',').map((one) => one.trim().toUpperCase()) : ['*']

/** The outputs by index; undefined when they cannot be read. */
export const readOutputs = ({
  return_types,
  return_names,
  output_is_list: isList,
}: HostNodeText): OutputForm[] | undefined => {
  const types = readJson(return_types ?? '[]')
  if (!Array.isArray(types)) return undefined
  const names = readJson(return_names ?? '[]')
  return types.map((type, index) => {
    const name = Array.isArray(names) ? names[index] : undefined
    return {
      types: typesOf(type),
      name: typeof name === 'string' ? name : undefined,
      isList: isList[index] ?? false,
    }
  })
}

export const compareTypes = (
  before: readonly string[],
  after: readonly string[],
): 'same' | 'widened' | 'narrowed' | 'changed' => {
  if (before.toSorted().join() === after.toSorted().join()) return 'same'
  if (after.includes('*')) return 'widened'
  if (before.includes('*')) return 'narrowed'
  const known = new Set(after)
  const kept = before.filter((type) => known.has(type))
  if (kept.length === 0) return 'changed'
  return kept.length === before.length ? 'widened' : 'narrowed'
}
