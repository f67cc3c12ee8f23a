import { isObject } from '../../../platform/domain/is-object.ts'
import { fileOf } from './fields.ts'
import type { GraphNode } from './graph.ts'

/** An input of a class, as an instance describes it. */
export interface InputSpec {
  /** `INT`, `FLOAT`, `STRING`, `BOOLEAN`, `COMBO` and types of links; several have commas between, and `*` is any. */
  type: string
  choices?: readonly unknown[]
  min?: number
  max?: number
  /** Media of the files that it takes by the names of uploads. */
  upload?: string
  /** Its explanation for whoever edits a graph. */
  tooltip?: string
  /** No node can be without it. */
  isRequired?: boolean
  /** Value with which the editor begins. */
  preset?: unknown
  /** Finds the inputs below it for its value in a graph, where they are named `<input>.<member>`. */
  members?(value: unknown): NodeClass
}

/** Inputs of a class, as an instance has them; undefined for one that it does not have. */
export type NodeClass = Readonly<Record<string, InputSpec>>
/** Classes of an instance by their names. */
export type NodeClasses = Readonly<Record<string, NodeClass | undefined>>

/** Reads the body of `GET /object_info/{name}`: `{}` of a class that the instance does not have. */
export const readNodeClass = (
  body: Record<string, unknown>,
  name: string,
): NodeClass | undefined => {
  const info = body[name]
  if (!isObject(info) || !isObject(info['input'])) return undefined
  const { hidden } = info['input']
  // An output node writes what is hidden into its files, and does not need it.
  const read = isObject(hidden) && info['output_node'] !== true ? Object.entries(hidden) : []
  const optional = Object.fromEntries(read.map(([input, type]) => [input, [type].flat()]))
  return { ...readInputs({ optional }), ...readInputs(info['input']) }
}

const readInputs = (given: unknown): NodeClass => {
  const { required, optional } = isObject(given) ? given : {}
  return Object.fromEntries(
    [required, optional].flatMap((inputs) =>
      Object.entries(isObject(inputs) ? inputs : {}).flatMap(([input, spec]) =>
        Array.isArray(spec) ? [[input, readSpec(spec as unknown[], inputs === required)]] : [],
      ),
    ),
  )
}

const TOOLTIP_CHARACTERS = 300

/** Choices stand in place of the type (old nodes), or among the options. */
const readSpec = ([type, given]: unknown[], isRequired: boolean): InputSpec => {
  const options = isObject(given) ? given : {}
  const { min, max, tooltip, template } = options
  const keys = type === 'COMFY_DYNAMICCOMBO_V3' ? readOptions(options['options']) : undefined
  const listed: unknown = keys ? [...keys.keys()] : Array.isArray(type) ? type : options['options']
  const choices = Array.isArray(listed) ? (listed as unknown[]) : undefined
  const grown = type === 'COMFY_AUTOGROW_V3' ? readGrown(template) : undefined
  const upload = Object.keys(options).find((name) => name.endsWith('_upload') && options[name])
  const preset = options['default'] ?? choices?.[0]
  const match = type === 'COMFY_MATCHTYPE_V3' && isObject(template) && template['allowed_types']
  return {
    type: keys || Array.isArray(type) ? 'COMBO' : String(match || type),
    isRequired,
    ...(choices && { choices }),
    ...(typeof min === 'number' && { min }),
    ...(typeof max === 'number' && { max }),
    ...(upload !== undefined && { upload: upload.replace('_upload', '') }),
    ...(typeof tooltip === 'string' && { tooltip: tooltip.slice(0, TOOLTIP_CHARACTERS) }),
    ...(preset !== undefined && { preset }),
    ...(keys && { members: (value: unknown) => keys.get(value) ?? {} }),
    ...(grown && { members: () => grown }),
  }
}

/** Reads choices that have inputs of their own. */
const readOptions = (given: unknown): ReadonlyMap<unknown, NodeClass> =>
  new Map(
    (Array.isArray(given) ? (given as unknown[]) : [])
      .filter(isObject)
      .map(({ key, inputs }) => [key, readInputs(inputs)]),
  )

/** ComfyUI has no more of one input. */
const MEMBERS_MAX = 100

/** Reads the inputs below one that grows, as `images.image0`. */
const readGrown = (template: unknown): NodeClass => {
  const { input, names, prefix, max } = isObject(template) ? template : {}
  const count = Math.min(Number(max) || 0, MEMBERS_MAX)
  const listed = Array.isArray(names)
    ? (names as unknown[])
    : Array.from({ length: count }, (_, index) => `${String(prefix)}${index}`)
  const [spec] = Object.values(readInputs(input))
  return spec
    ? Object.fromEntries(listed.map((name) => [String(name), { ...spec, isRequired: false }]))
    : {}
}

type Inputs = Readonly<Record<string, unknown>>

/** Lists the inputs of a node with these values, those below others under their whole names. */
export const listInputs = (known: NodeClass, values: Inputs, prefix = ''): NodeClass =>
  Object.fromEntries(
    Object.entries(known).flatMap(([name, spec]) => {
      const [path, value] = [prefix + name, values[prefix + name]]
      const below = listInputs(spec.members?.(value) ?? {}, values, `${path}.`)
      return [[path, { ...spec, type: typeFor(value, spec.type) }], ...Object.entries(below)]
    }),
  )

/** Types of values in the order in which an input that takes several is read as one of them. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  boolean: ['BOOLEAN'],
  number: ['FLOAT', 'INT'],
  string: ['STRING', 'COMBO'],
}

const typeFor = (value: unknown, type: string): string => {
  const taken = type.split(',')
  if (taken.length === 1 && type !== '*') return type
  const found = TYPES[typeof value]?.find((one) => type === '*' || taken.includes(one))
  return found ?? type
}

/**
 * Makes the values below a choice fit it where a caller has made another one than the graph: what is absent or no choice
 * is as the editor begins, and numbers are in their range.
 */
export const fitMembers = (
  known: NodeClass,
  values: Inputs,
  prefix = '',
): Record<string, unknown> =>
  Object.entries(known).reduce<Record<string, unknown>>(
    (fitted, [name, spec]) => {
      const path = prefix + name
      const value = prefix === '' ? fitted[path] : fit(fitted[path], spec)
      if (value !== undefined) fitted[path] = value
      return fitMembers(spec.members?.(value) ?? {}, fitted, `${path}.`)
    },
    { ...values },
  )

const fit = (value: unknown, { choices, isRequired, preset, min, max }: InputSpec): unknown => {
  if (Array.isArray(value)) return value
  if (value === undefined) return isRequired ? preset : undefined
  if (choices) return choices.includes(value) ? value : preset
  return typeof value === 'number' ? Math.min(max ?? value, Math.max(min ?? value, value)) : value
}

/** Lists the choices of an input that a graph can go with: each has all that it needs. */
export const listChoices = (known: NodeClass, values: Inputs, input: string): unknown[] =>
  (listInputs(known, values)[input]?.choices ?? []).filter((choice) => {
    const fitted = fitMembers(known, { ...values, [input]: choice })
    return Object.entries(listInputs(known, fitted)).every(
      ([path, { isRequired }]) => !path.startsWith(`${input}.`) || !isRequired || path in fitted,
    )
  })

/** Says that a node has no such input, with the choice that it depends on. */
export const describeAbsent = ({ class_type: type, inputs }: GraphNode, input: string): string => {
  const above = input.slice(0, Math.max(0, input.lastIndexOf('.')))
  const choice = above in inputs ? ` while ${above} is ${String(inputs[above])}` : ''
  return `${input} is no input of ${type}${choice}`
}

const MEDIA_FILE =
  /\.(aac|flac|m4a|mp3|ogg|opus|wav|avi|m4v|mkv|mov|mp4|webm|avif|bmp|gif|jpe?g|png|tiff?|webp)$/i

/** Finds what says that an input takes a file: its media, or the file of the graph, because not all nodes say so. */
export const mediaOf = (
  type: string,
  { input, spec, value }: { input: string; spec: InputSpec; value: unknown },
): string | undefined =>
  fileOf(type, input) ??
  spec.upload ??
  (spec.type === 'COMBO' && MEDIA_FILE.test(String(value)) ? String(value) : undefined)
