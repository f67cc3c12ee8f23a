import { makeChange, type Change, type ChangeCode } from '../comparison/change.ts'
import { compareHostNode } from '../comparison/host-node.ts'
import { readInputs, readOutputs } from '../comparison/host-node-form.ts'
import type { HostNodeText, InputForm } from '../comparison/host-node-form.ts'
import { placesOf } from '../comparison/inputs.ts'
import { isObject, plain, writeJson, type Json } from '../comparison/read-json.ts'
import type { GraphNode, Target } from './graph.ts'

/**
 * Makes the check of host nodes of one class: it lists the changes between the two forms of the class that a node of a
 * graph feels. A node feels changes of inputs and outputs that it uses, of values that it keeps, and of its links. Safe
 * changes are left out. The forms are read and compared once, however many nodes of the class a graph has; `steps` is
 * the cost of one node.
 */
export const makeCheck = (
  before: HostNodeText,
  after: HostNodeText,
): ((node: GraphNode) => Change[]) & { steps(node: GraphNode): number } => {
  const changes = compareHostNode(before, after)
  const [inputs, inputsNow] = [readInputs(before), readInputs(after)]
  const forms = {
    old: byName(inputs),
    now: byName(inputsNow),
    places: placesOf(inputs ?? []),
    placesNow: placesOf(inputsNow ?? []),
    outputs: (readOutputs(after) ?? []).map(({ types }) => types),
  }
  const check = (node: GraphNode): Change[] => {
    const use = { ...forms, node }
    return [...changes.flatMap((change) => feel(use, change)), ...listShifted(use)]
  }
  const steps = ({ outputs }: GraphNode): number =>
    1 + changes.length * (1 + outputs.length) + forms.placesNow.size
  return Object.assign(check, { steps })
}

/** A host node of a graph beside both forms of its class. */
interface Use {
  node: GraphNode
  old: ReadonlyMap<string, InputForm>
  now: ReadonlyMap<string, InputForm>
  places: ReadonlyMap<string, number>
  placesNow: ReadonlyMap<string, number>
  /** Types of the outputs as they are, by index. */
  outputs: readonly (readonly string[])[]
}

const byName = (inputs: readonly InputForm[] = []) => new Map(inputs.map((one) => [one.name, one]))

/** The change as this host node feels it; none where it does not. */
const feel = (use: Use, change: Change): Change[] => {
  const rule = RULES[change.code]
  if (rule === undefined) return change.level === 'safe' ? [] : [change]
  return rule(use, change)
}

type Rule = (use: Use, change: Change) => Change[]

const drop: Rule = () => []

/** Keeps a change of an input where the condition holds, with what the graph has there. */
const inputRule =
  (isFelt: (use: Use, input: string, change: Change) => boolean, level?: Change['level']): Rule =>
  (use, change) => {
    const { input = '' } = change
    if (!isFelt(use, input, change)) return []
    return [raise(withValue(use, change), level)]
  }

const raise = (change: Change, level: Change['level'] | undefined): Change =>
  level === undefined || change.message.endsWith(DOUBT) ? change : { ...change, level }

/** As `makeChange` says that something was not read in full. */
const DOUBT = 'It was not read in full.'

const withValue = (use: Use, change: Change): Change => {
  const value = valueOf(use, change.input ?? '')
  if (value === undefined || isLinked(use, change.input ?? '')) return change
  return { ...change, message: `${change.message} This graph has ${short(value)} there.` }
}

const isLinked = ({ node }: Use, input: string): boolean => node.inputs.has(input)

/** The value that the graph keeps for a widget of the earlier form. */
const valueOf = ({ node: { values }, places }: Use, input: string): Json | undefined => {
  if (values === undefined) return undefined
  if (isObject(values)) return values.get(input)
  const place = places.get(input)
  return place === undefined ? undefined : values[place]
}

const isGiven = (use: Use, input: string): boolean =>
  isLinked(use, input) || valueOf(use, input) !== undefined

/** True where a value that is not the default is lost, or a link. */
const isUsed = (use: Use, input: string): boolean => {
  if (isLinked(use, input)) return true
  const value = valueOf(use, input)
  const usual = use.old.get(input)?.options.get('default')
  return value !== undefined && (usual === undefined || plain(usual) !== plain(value))
}

/** True where what is linked or kept no longer fits the type of an input. */
const misfits = (use: Use, input: string): boolean => {
  const form = use.now.get(input)
  const source = use.node.inputs.get(input)
  if (source) return !fits(source.types, form?.types ?? ['*'])
  const value = valueOf(use, input)
  return value !== undefined && form !== undefined && !isOfType(value, form)
}

const fits = (given: readonly string[], taken: readonly string[]): boolean => {
  const known = new Set(taken)
  return known.has('*') || given.some((type) => type === '*' || known.has(type))
}

/** The host converts numbers and texts of numbers. */
const isOfType = (value: Json, { types: [type = '*'], hasWidget }: InputForm): boolean => {
  if (!hasWidget) return false
  if (type === 'INT' || type === 'FLOAT') return Number.isFinite(Number(plain(value)))
  return type !== 'BOOLEAN' || typeof value === 'boolean'
}

const isChoiceGone = (use: Use, input: string): boolean => {
  const value = valueOf(use, input)
  const choices = use.now.get(input)?.choices
  return !isLinked(use, input) && value !== undefined && !choices?.includes(plain(value))
}

const isOutOfBounds = (use: Use, input: string): boolean => {
  const [value, form] = [valueOf(use, input), use.now.get(input)]
  if (isLinked(use, input) || typeof value !== 'number') return false
  const [min, max] = [form?.options.get('min'), form?.options.get('max')]
  return (typeof min === 'number' && value < min) || (typeof max === 'number' && value > max)
}

const isFraction = (use: Use, input: string): boolean =>
  use.now.get(input)?.types[0] === 'INT' && Number(plain(valueOf(use, input) ?? 0)) % 1 !== 0

/** True where the editor fills the input with its default. The API rejects a graph without it. */
const isFilled = ({ node, now }: Use, input: string): boolean =>
  !isObject(node.values) && now.get(input)?.hasWidget === true

const outputRule =
  (isFelt: (target: Target, use: Use) => boolean): Rule =>
  (use, change) => {
    const targets = use.node.outputs.filter(({ output }) => output === change.output)
    return targets
      .filter((target) => isFelt(target, use))
      .map(({ node, input }) => ({
        ...change,
        message: `${change.message} It is linked to ${short(input)} of node ${node}.`,
      }))
  }

const isLinkBroken = ({ output, types }: Target, { outputs }: Use): boolean =>
  !fits(outputs[output] ?? [], types)

/** Rules by code. A change without one is felt by every host node of the class, or by none where it is safe. */
const RULES: Partial<Record<ChangeCode, Rule>> = {
  input_removed: inputRule(isUsed),
  input_renamed: inputRule((use, input) => isObject(use.node.values) || isLinked(use, input)),
  optional_input_removed: inputRule(isUsed),
  input_type_changed: inputRule(misfits),
  input_type_narrowed: inputRule(misfits, 'breaks'),
  socket_required: inputRule((use, input) => !isGiven(use, input)),
  widget_became_socket: inputRule((use, input) => !isLinked(use, input)),
  widget_required: inputRule(
    (use, input) => !isGiven(use, input) && !isFilled(use, input),
    'breaks',
  ),
  input_now_required: inputRule(
    (use, input) => !isGiven(use, input) && !isFilled(use, input),
    'breaks',
  ),
  option_removed: (use, change) =>
    isChoiceGone(use, change.input ?? '') ? [{ ...change, ...choiceGone(use, change) }] : [],
  bounds_narrowed: inputRule(isOutOfBounds, 'breaks'),
  number_type_changed: inputRule(isFraction),
  default_changed: inputRule(
    (use, input) => use.now.has(input) && !isGiven(use, input),
    'may_break',
  ),
  // These are about places of values, which are compared with the places in this graph.
  widget_moved: drop,
  widget_inserted: (use, { input = '' }) =>
    isGiven(use, input) || isFilled(use, input) || use.now.get(input)?.isRequired !== true
      ? []
      : [{ ...makeChange('widget_required', { input }), level: 'breaks' }],
  widget_removed: (use, change) =>
    use.now.has(change.input ?? '') || !isUsed(use, change.input ?? '') ? [] : [lose(use, change)],
  output_removed: outputRule(() => true),
  output_moved: outputRule(() => true),
  output_type_changed: outputRule(isLinkBroken),
  output_type_narrowed: outputRule(isLinkBroken),
  output_list_changed: outputRule(() => true),
}

const choiceGone = (use: Use, { input = '', level }: Change): Change => {
  const before = plain(valueOf(use, input) ?? '')
  return makeChange('option_removed', { input, before }, level !== 'breaks')
}

const lose = (use: Use, { input = '' }: Change): Change =>
  withValue(use, makeChange('optional_input_removed', { input }))

/** Widgets that get a value which was saved for another: the editor keeps values by place. */
const listShifted = ({ node, places, placesNow }: Use): Change[] => {
  const { values } = node
  if (!Array.isArray(values)) return []
  const names = [...places.keys()]
  // Rows that the editor adds of itself, such as a button, are not in the form.
  const isDoubtful = values.length > places.size
  return [...placesNow].flatMap(([row, place]) => {
    const [input = ''] = row.split('\0')
    const before = places.get(row)
    const from = names[place]
    if (place >= values.length || before === place || node.inputs.has(input)) return []
    const got: Json = values[place] ?? null
    const own = before === undefined ? undefined : values[before]
    if (from === undefined || (own !== undefined && writeJson(got) === writeJson(own))) return []
    const code = before === undefined ? 'widget_inserted' : 'widget_moved'
    const change = makeChange(code, { input }, isDoubtful)
    const message = `${change.message} It gets ${short(got)}, the value of ${short(from.split('\0', 1).join())}.`
    return [{ ...change, message }]
  })
}

/** As JSON, cut at some 60 characters. */
const short = (value: Json): string => {
  const text = writeJson(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}
