import { isObject } from '../../../platform/domain/is-object.ts'
import { toPointer, valueAt } from '../../../platform/domain/pointer.ts'
import { cleanReason, cut } from '../engine-reason.ts'
import type { FilledNode } from './fill.ts'
import { describeNode } from './graph.ts'
import { text, type RunFailure } from './run-end.ts'
import type { Mark, Template } from './template.ts'
import type { Values } from './values.ts'

/** A prompt as it was sent, and what it was made of. */
export interface SentPrompt {
  template: Pick<Template, 'graph' | 'marks' | 'values'>
  prompt: Readonly<Record<string, FilledNode>>
  values: Values
  /** Members of the body of the task. */
  settings: object
  /** Names and addresses of the instance, which no caller reads. */
  hidden: readonly string[]
}

interface Rejection {
  failure: RunFailure
  /** For operators: node, class and input of each error, and the kind of its value. */
  detail: string
  /** For the caller: the members that are rejected, and the rule of each; absent where none is. */
  advice?: string
}

/** An error of a node, as an instance says it. */
interface NodeError {
  node: string
  className: string
  type: string
  input: string
  /** Words of the check of a class. */
  words: string
  /** Type and limits of the input, as the instance has them. */
  config: unknown[]
}

/** Errors of a node that come from the instance, and not from a value of the task. */
const UNABLE: ReadonlySet<string> = new Set(['value_not_in_list', 'required_input_missing'])
/** Error of a check that the class itself makes: of a file's name, or of several values together. */
const CUSTOM = 'custom_validation_failed'

/**
 * Reads why `POST /prompt` took no prompt, or not the whole of it.
 * @returns undefined where it did, or where the instance may take it another time
 */
export const readRejection = (
  status: number,
  body: Record<string, unknown>,
  sent: SentPrompt,
): Rejection | undefined => {
  if (status === 413) return { failure: 'too_large', detail: 'larger than its --max-upload-size' }
  const { node_errors: found, error } = body
  if (!(isObject(found) && Object.keys(found).length > 0) && status !== 400) return undefined
  const errors = listErrors(body)
  const own = isObject(error) ? error : {}
  // Details of a node repeat values of the task. Details of the whole error name a node or a class.
  const detail = cut(
    errors.map((one) => describeError(one, sent)).join(', ') ||
      `${text(own['type'])}: ${text(own['message'])} ${text(own['details'])}`,
  )
  if (errors.length === 0) return { failure: 'unable', detail }
  if (errors.some((one) => isOfFile(one, sent.template.marks)))
    return { failure: 'input_missing', detail }
  const advices = errors.map((one) => adviseCaller(one, sent))
  if (errors.some(({ type }, index) => UNABLE.has(type) && advices[index] === undefined))
    return { failure: 'unable', detail }
  const advice = cut(advices.filter((one) => one !== undefined).join('; '))
  return { failure: 'rejected', detail, ...(advice !== '' && { advice }) }
}

const listErrors = ({ node_errors: nodes }: Record<string, unknown>): NodeError[] =>
  Object.entries(isObject(nodes) ? nodes : {}).flatMap(([node, found]) => {
    const { class_type: className, errors } = isObject(found) ? found : {}
    return (Array.isArray(errors) ? errors : [])
      .filter(isObject)
      .map(({ type, details, extra_info: extra }) => {
        const { input_name: name, input_config: config } = isObject(extra) ? extra : {}
        const input = text(name)
        const said = text(details)
        return {
          node,
          className: text(className),
          type: text(type),
          input,
          words: said.startsWith(`${input} - `) ? said.slice(input.length + 3) : '',
          config: Array.isArray(config) ? (config as unknown[]) : [],
        }
      })
  })

const describeError = (
  { node, className, type, input }: NodeError,
  { template: { graph }, prompt }: SentPrompt,
): string => {
  const place = graph[node] ? describeNode(node, graph[node]) : `node ${node}`
  const at = input === '' ? '' : `, ${input} (${kindOf(prompt[node]?.inputs[input])})`
  return `${place} ${className}${at}: ${type}`
}

const kindOf = (value: unknown): string => {
  if (Array.isArray(value)) return 'a link'
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a number'
  return value === undefined ? 'absent' : `a ${typeof value}`
}

/** Words by which a loader says that there is no such file, as those of ComfyUI do: `Invalid image file: a.png`. */
const ABSENT = /^(invalid (\w+ )?(file|path)|.*\b(not found|not exist|no such))|^$/i

/** True for the check of a file's name: what was uploaded is gone. Other words are about what is in the file. */
const isOfFile = ({ type, node, input, words }: NodeError, marks: readonly Mark[]): boolean =>
  type === CUSTOM &&
  ABSENT.test(words) &&
  marks.some(
    (mark) =>
      mark.field?.type === 'file' && mark.node === node && (input === '' || mark.input === input),
  )

/** Says which member of the body an error is about, and its rule; undefined where no value of the caller was sent there. */
const adviseCaller = (error: NodeError, sent: SentPrompt): string | undefined => {
  const { node, input } = error
  const { graph, marks } = sent.template
  const mark = marks.find((mark) => mark.node === node && mark.input === input)
  // A value that the graph has itself is for whoever made the template to mend.
  if (!mark || sent.prompt[node]?.inputs[input] === graph[node]?.inputs[input]) return undefined
  // The name of a file with a word is one of templates alone.
  if (mark.field?.type === 'file')
    return mark.field.word ? undefined : `/${mark.name} ${describeRule(error, mark, sent)}`
  const path = findPath(sent.settings, mark.name)
  const member = path && toPointer(path)
  // Some values are the service's own, under the name of a member.
  if (member === undefined || valueAt(sent.settings, member) !== sent.values[mark.name])
    return undefined
  return `${member} ${describeRule(error, mark, sent)}`
}

/** Finds a member, also within another one. */
const findPath = (settings: object, name: string): string[] | undefined => {
  if (Object.hasOwn(settings, name)) return [name]
  for (const [member, value] of Object.entries(settings)) {
    const path = isObject(value) ? findPath(value, name) : undefined
    if (path) return [member, ...path]
  }
  return undefined
}

const TYPES: Readonly<Record<string, string>> = {
  INT: 'a whole number',
  FLOAT: 'a number',
  BOOLEAN: 'true or false',
  STRING: 'a text',
}

/** Describes the rule of a member, in its own values. */
const describeRule = (
  { type, words, config }: NodeError,
  { name, node, input, field, divisor }: Mark,
  { template, prompt, settings, hidden }: SentPrompt,
): string => {
  const [of, bounds] = config
  const limits = isObject(bounds) ? bounds : {}
  const isMin = type === 'value_smaller_than_min'
  if (isMin || type === 'value_bigger_than_max') {
    const end = limits[isMin ? 'min' : 'max']
    if (typeof end !== 'number') return 'is outside of its range'
    const side = isMin === divisor > 0 ? 'at least' : 'at most'
    return `must be ${side} ${Number((end * divisor).toPrecision(12))}`
  }
  if (type === 'value_not_in_list') {
    const listed = Array.isArray(of) ? (of as unknown[]) : limits['options']
    const choices = (field?.choices ?? []).filter(
      (choice) =>
        Array.isArray(listed) && listed.includes(template.values[name]?.[choice] ?? choice),
    )
    return choices.length > 0 ? `must be one of ${choices.join(', ')}` : 'is no choice any more'
  }
  if (type === 'invalid_input_type') return `must be ${TYPES[text(of)] ?? 'of another type'}`
  if (type !== CUSTOM) return 'is not what the workflow takes'
  const nodes = Object.values(template.graph).map(({ class_type, inputs }) => [class_type, inputs])
  const file = field?.type === 'file' ? prompt[node]?.inputs[input] : undefined
  const plain = typeof file === 'string' ? words.replaceAll(file, 'the file') : words
  const said = cleanReason(plain, { settings, nodes, hidden })
  return `is rejected by a check of the workflow${said === '' ? '' : `: ${said}`}`
}
