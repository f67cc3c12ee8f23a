import { distance } from 'fastest-levenshtein'

import { isObject } from '../../../platform/domain/is-object.ts'
import { CUSTOM, CUSTOM_NAME, customName } from '../../../tasks/domain/custom-kind.ts'
import {
  customMarkIssue,
  fieldsOf,
  fileOf,
  requiredNames,
  TEMPLATE_KINDS,
  wordsOf,
} from './fields.ts'
import type { Field, Fields } from './fields.ts'
import { describeNode, isLiteral, parseJson, PREFIX, readGraph, unsafeOf } from './graph.ts'
import type { Graph, GraphNode } from './graph.ts'
import type { FieldRules } from './field-rules.ts'
import { readRules, type Limits } from './limits.ts'
import { findResults, RESULT } from './results.ts'
import type { Result } from './results.ts'
import { readTitle, titleIssue, type Given } from './title.ts'
import { listWarnings } from './warnings.ts'

/** An input of a node that takes a value of the task. */
export interface Mark {
  name: string
  /** Undefined: of a custom kind, until an instance has described it. */
  field: Field | undefined
  node: string
  input: string
  divisor: number
}

/** A value of a task, or of a node. */
export type Literal = string | number | boolean

/** A workflow with marks: how an instance of ComfyUI renders a kind of task. */
export interface Template {
  /** Name of its file without the ending, such as `relight+light` or `custom/upscale-model`. */
  name: string
  /** Undefined: a custom kind of its own. */
  kind: string | undefined
  /** Words behind the plus: inputs that the task must have. */
  words: readonly string[]
  marks: readonly Mark[]
  /** Maps the values of a field to values of the nodes, by field. */
  values: Readonly<Record<string, Readonly<Record<string, Literal>>>>
  /** The nodes whose files are the results, in order. */
  results: readonly Result[]
  limits: Limits
  /** Words and ranges that its author gives to fields, by their names. Absent: none. */
  fields?: FieldRules
  /** SHA-256 of the file, followed by its map where there is one. */
  version: string
  graph: Graph
  /** The form that the editor saves, which some nodes read and which says where models come from. */
  workflow?: Readonly<Record<string, unknown>>
}

/** The files of a template: what ComfyUI exported, and where there are any the values of choices and the editor's form. */
export interface TemplateFile {
  /** Below the folder, with the ending. */
  path: string
  text: string
  map?: string | undefined
  workflow?: string | undefined
  /** SHA-256 of both, where it is known. */
  version?: string
}

/** Ending of the file beside a template that holds values of choices, rules of fields and limits. */
export const MAP = '.map.json'
/** Ending of the file beside a template that holds the form of the editor. */
export const WORKFLOW = '.workflow.json'

/** Inputs that a value goes to where a mark names none. */
const OBVIOUS: Readonly<Record<string, string>> = {
  LoadImage: 'image',
  LoadImageMask: 'image',
  LoadImageOutput: 'image',
  LoadVideo: 'file',
  VHS_LoadVideo: 'video',
  VHS_LoadVideoFFmpeg: 'video',
  CLIPTextEncode: 'text',
  KSampler: 'seed',
  KSamplerAdvanced: 'noise_seed',
}

/**
 * Reads a template and checks all that needs no instance.
 * @returns the template, or the issues for an operator, then its warnings, each with its file
 */
export const readTemplate = (file: TemplateFile): { template?: Template; issues: string[] } => {
  const issues: string[] = []
  try {
    const template = read(file, (issue, path = file.path) => issues.push(`${path}: ${issue}`))
    if (issues.length === 0 && template) return { template, issues }
    const warnings = template ? listWarnings(template) : []
    return { issues: [...issues, ...warnings.map((text) => `${file.path}: warning: ${text}`)] }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return { issues: [...issues, `${file.path}: ${reason}`] }
  }
}

/** Reports an issue of a file: that of the template where none is named. */
type Report = (issue: string, path?: string) => void

const read = (
  { path, text, map, workflow: saved, version = '' }: TemplateFile,
  report: Report,
): Template | undefined => {
  const name = path.replace(/\.json$/, '')
  const [kind = '', ...words] = name.split('+')
  const custom = customName(name)
  const isCustom = custom !== undefined
  const fields = isCustom ? undefined : fieldsOf(kind)
  if (!isCustom && !fields) {
    report(
      `no kind is called ${kind}${didYouMean(kind, TEMPLATE_KINDS)}; others belong in ${CUSTOM}`,
    )
    return undefined
  }
  if (isCustom && !new RegExp(`^${CUSTOM_NAME}$`).test(custom))
    report(
      `a name has small letters, digits, - and _, at most 63 of them, got ${JSON.stringify(custom)}`,
    )
  const graph = readGraph(text)
  if (fields)
    for (const word of words.filter((word) => !wordsOf(fields).includes(word)))
      report(`${kind} has no input ${word}${didYouMean(word, wordsOf(fields))}`)
  for (const [id, node] of Object.entries(graph)) {
    const issue = titleIssue(node)
    if (issue !== undefined) report(`${describeNode(id, node)}: ${issue}`)
  }
  const read = Object.entries(graph).flatMap(([id, node]) =>
    readTitle(node).map((given) => ({ ...given, id, node })),
  )
  const marks = read
    .filter(({ name }) => name !== RESULT)
    .flatMap((given) => resolve(given, { fields, words, report }) ?? [])
  const own = kind === 'text2video' || kind === 'extend' ? 'video' : 'image'
  const results = findResults(graph, read, { family: isCustom ? 'custom' : own, report })
  if (fields) reportAbsent(marks, requiredNames(kind, words), report)
  checkLiterals(graph, marks, report)
  const reportMap = (issue: string): void => report(issue, path.replace(/(\+.*)?\.json$/, MAP))
  const values = readValues(map, marks, reportMap)
  const workflow = saved === undefined ? undefined : readWorkflow(saved, { name, report })
  const { limits, fields: rules } = readRules(map, { isCustom, report: reportMap })
  if (isCustom)
    for (const field of new Set([...Object.keys(values), ...Object.keys(rules)]))
      if (!marks.some(({ name }) => name === field))
        reportMap(`the map has ${field}, and no node is titled kiln:${field}`)
  return {
    name,
    kind: isCustom ? undefined : kind,
    words,
    marks,
    values,
    results,
    limits,
    ...(Object.keys(rules).length > 0 && { fields: rules }),
    version,
    graph: plain(graph),
    ...(workflow && { workflow }),
  }
}

interface Rules {
  fields: Fields | undefined
  words: readonly string[]
  report: Report
}

/** Finds the input that a mark means; undefined once it has reported why there is none. */
const resolve = (
  { name, divisor, input: named, id, node }: Given & { id: string; node: GraphNode },
  { fields, words, report }: Rules,
): Mark | undefined => {
  const reject = (issue: string): undefined => {
    report(`${describeNode(id, node)}: ${issue}`)
  }
  const field = fields?.[name]
  if (fields && !field)
    return reject(`no field is called ${name}${didYouMean(name, Object.keys(fields))}`)
  if (!/^[a-z]\w*$/.test(name))
    return reject(`a name has small letters, digits and _, got ${JSON.stringify(name)}`)
  if (!(Number.isFinite(divisor) && divisor !== 0))
    return reject(`behind / must be a number that is not 0`)
  if (field?.word !== undefined && !words.includes(field.word))
    return reject(`not every task has ${name}: call the file …+${field.word}.json`)
  const input = named ?? findObvious(name, node)
  const literals = Object.keys(node.inputs).filter((input) => isLiteral(node.inputs[input]))
  if (input === undefined)
    return reject(`several inputs could be meant: add =<input>, one of ${literals.join(', ')}`)
  if (Array.isArray(node.inputs[input]))
    return reject(`${input} is linked to another node: mark that one, or remove the link`)
  if (!literals.includes(input))
    return reject(`has no input ${input}${didYouMean(input, literals)}`)
  // What a caller wrote would name any file of the instance.
  const isFileName = input === PREFIX || fileOf(node.class_type, input) !== undefined
  if (isFileName && field && (field.type !== 'file' || input === PREFIX))
    return reject(`${input} names a file, and ${name} is none`)
  const issue = fields ? undefined : customMarkIssue(name, { classType: node.class_type, input })
  if (issue !== undefined) return reject(issue)
  return { name, field, node: id, input, divisor }
}

const findObvious = (name: string, { class_type, inputs }: GraphNode): string | undefined => {
  const obvious = class_type.startsWith('Primitive') ? 'value' : OBVIOUS[class_type]
  if (obvious !== undefined) return obvious
  if (isLiteral(inputs[name])) return name
  const [only, ...others] = Object.keys(inputs).filter((input) => isLiteral(inputs[input]))
  return others.length === 0 ? only : undefined
}

const reportAbsent = (marks: readonly Mark[], required: string[][], report: Report): void => {
  for (const names of required)
    if (!marks.some(({ name }) => names.includes(name)))
      report(`no node is titled kiln:${names.join(' or kiln:')}`)
}

const checkLiterals = (graph: Graph, marks: readonly Mark[], report: Report): void => {
  for (const [id, node] of Object.entries(graph))
    for (const [input, value] of Object.entries(node.inputs)) {
      const unsafe = unsafeOf(value)
      const isSeed = marks.some(
        (mark) => mark.node === id && mark.input === input && mark.name === 'seed',
      )
      if (unsafe !== undefined && !isSeed)
        report(
          `${describeNode(id, node)}: ${input} is ${unsafe}, above 2^53: make it smaller, or title the node kiln:seed`,
        )
      if (input === PREFIX && !isLiteral(value))
        report(`${describeNode(id, node)}: ${PREFIX} is linked to another node: remove the link`)
    }
}

/** The graph without numbers that cannot be sent: seeds, which every task replaces. */
const plain = (graph: Graph): Graph =>
  Object.fromEntries(
    Object.entries(graph).map(([id, node]) => {
      const inputs = Object.entries(node.inputs).map(([name, value]) => [
        name,
        unsafeOf(value) === undefined ? value : 0,
      ])
      return [id, { ...node, inputs: Object.fromEntries(inputs) as GraphNode['inputs'] }]
    }),
  )

/** Reads `{"values": {"engine": {"automatic": "x.safetensors"}}}`: choices that are not named leave what is in the graph. */
const readValues = (
  map: string | undefined,
  marks: readonly Mark[],
  report: (issue: string) => void,
): Template['values'] => {
  const parsed = map === undefined ? {} : parseBeside(map, report)
  const values = isObject(parsed?.['values']) ? parsed['values'] : {}
  for (const [name, choices] of Object.entries(values)) {
    const mark = marks.find((mark) => mark.name === name)
    const known = mark?.field?.choices ?? []
    if (!isObject(choices) || (mark?.field && known.length === 0))
      report(`the map has ${name}, which is no field with choices`)
    else
      for (const choice of Object.keys(choices))
        if (mark?.field && !known.includes(choice))
          report(`the map of ${name} has ${choice}, which is no choice${didYouMean(choice, known)}`)
  }
  return values as Template['values']
}

/** Reads a file beside a template. */
const parseBeside = (text: string, report: (issue: string) => void) => {
  try {
    const value = parseJson(text)
    if (isObject(value)) return value
    report('is no JSON object')
  } catch (error) {
    report((error as Error).message)
  }
  return undefined
}

const readWorkflow = (text: string, { name, report }: { name: string; report: Report }) => {
  const reportBeside = (issue: string): void => report(issue, name + WORKFLOW)
  const workflow = parseBeside(text, reportBeside)
  if (workflow && !Array.isArray(workflow['nodes']))
    reportBeside('has no list of nodes: save it by Workflow > Export')
  return workflow
}

const didYouMean = (name: string, known: readonly string[]): string => {
  const [nearest] = known.toSorted((a, b) => distance(name, a) - distance(name, b))
  return nearest === undefined ? '' : `; did you mean ${nearest}?`
}

/** Finds the file of a template that cannot be used, and that a task would be rendered with in place of the chosen one. */
export const findBroken = (
  unusable: readonly string[],
  { kind, files, chosen }: { kind: string; files: readonly string[]; chosen: Template | undefined },
): string | undefined =>
  unusable.find((file) => {
    const [name, ...words] = file.replace(/\.json$/, '').split('+')
    const isBetter = words.length > (chosen?.words.length ?? -1)
    return name === kind && isBetter && words.every((word) => files.includes(word))
  })

/** Finds the template of a kind for the files that a task has: the one with the most words. */
export const chooseTemplate = (
  templates: readonly Template[],
  kind: string,
  files: readonly string[],
): Template | undefined =>
  templates
    .filter(
      (template) =>
        template.kind === kind &&
        template.marks.every(({ name, field }) => field?.type !== 'file' || files.includes(name)),
    )
    .toSorted((a, b) => b.words.length - a.words.length)[0]
