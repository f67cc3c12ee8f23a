import { Type, type Static } from 'typebox'

import { count } from '../../../platform/domain/schema-fields.ts'
import { VERSION_PATTERN } from '../version-number.ts'
import { shown } from '../../../platform/domain/errors.ts'

/**
 * Each change by what it does to saved workflows, worst first, with its sentence. The host restores inputs by name, outputs
 * and links by index, and the values of widgets by position. It rejects a missing required input, a value out of bounds
 * and an unknown option.
 */
const SENTENCES = {
  breaks: {
    host_node_removed: 'The host node is gone.',
    host_node_renamed: 'The host node is gone. Perhaps it is now {after}.',
    input_removed: 'The required input {input} is gone.',
    input_renamed: 'The required input {input} is now {after}.',
    input_type_changed: 'The input {input} took {before} and takes {after}.',
    socket_required: 'The new input {input} must be connected.',
    widget_became_socket: 'The input {input} must be connected now: saved values are lost.',
    widget_moved: 'The widget {input} has another place: saved graphs mix up values.',
    widget_inserted: 'The new widget {input} is before others: saved graphs mix up values.',
    widget_removed: 'The widget {input} before others is gone: saved graphs mix up values.',
    option_removed: 'The choice {before} of {input} is gone.',
    output_removed: 'The output {output}, {before}, is gone.',
    output_moved: 'The output {output} was {before} and is {after}: links carry something else.',
    output_type_changed: 'The output {output} gave {before} and gives {after}.',
  },
  may_break: {
    host_node_replaced: 'The host node is gone: {after} is put in its place.',
    host_node_deprecated: 'The host node is deprecated.',
    host_node_no_output:
      'The host node is no output node any more: a workflow that ends in it does not run.',
    host_node_banned: 'The host node is banned.',
    host_node_local_only: 'The host node runs on the user’s own machine only.',
    input_now_required: 'The input {input} was optional and is required.',
    input_type_narrowed: 'The input {input} took {before} and takes only {after}.',
    inputs_unreadable: 'The inputs have changed, and cannot be read.',
    number_type_changed: 'The number {input} was of type {before} and is {after}.',
    bounds_narrowed: 'The bounds of {input} were {before} and are {after}.',
    optional_input_removed: 'The optional input {input} is gone.',
    widget_required: 'The new input {input} is required: saved API calls lack it.',
    output_list_changed: 'The output {output} was {before} and is {after}.',
    output_type_narrowed: 'The output {output} gave {before} and gives only {after}.',
    outputs_unreadable: 'The outputs have changed, and cannot be read.',
  },
  safe: {
    host_node_added: 'The host node is new.',
    host_node_allowed: 'The host node is no longer banned or kept to the user’s machine.',
    host_node_undeprecated: 'The host node is no longer deprecated.',
    host_node_became_output: 'The host node is an output node: it runs with nothing behind it.',
    category_changed: 'The category was {before} and is {after}.',
    display_name_changed: 'The display name was {before} and is {after}.',
    description_changed: 'The description has changed.',
    experimental_changed: 'The host node is {after}.',
    bounds_widened: 'The bounds of {input} were {before} and are {after}.',
    default_changed: 'The default of {input} was {before} and is {after}.',
    input_now_optional: 'The input {input} was required and is optional.',
    input_options_changed: 'Texts or looks of the input {input} have changed.',
    input_type_widened: 'The input {input} took {before} and takes {after}.',
    option_added: 'The choice {after} of {input} is new.',
    optional_input_added: 'The optional input {input} is new.',
    socket_became_widget: 'The input {input} has a widget now.',
    step_changed: 'The step of {input} was {before} and is {after}.',
    output_added: 'The output {output}, {after}, is new.',
    output_renamed: 'The output {output} was called {before} and is called {after}.',
    output_type_widened: 'The output {output} gave {before} and gives {after}.',
  },
} as const

export const CHANGE_LEVELS = ['breaks', 'may_break', 'safe'] as const
export type ChangeLevel = (typeof CHANGE_LEVELS)[number]

type Codes = typeof SENTENCES
export type ChangeCode = { [Level in ChangeLevel]: keyof Codes[Level] }[ChangeLevel]

const RULES = new Map<string, { level: ChangeLevel; sentence: string }>(
  CHANGE_LEVELS.flatMap((level) =>
    Object.entries(SENTENCES[level]).map(
      ([code, sentence]) => [code, { level, sentence }] as const,
    ),
  ),
)
export const CHANGE_CODES = [...RULES.keys()] as ChangeCode[]

const text = (description: string) => Type.Optional(Type.String({ description }))

/** One thing that two versions of a host node do not have in common. */
export const HostNodeChange = Type.Object({
  code: Type.Enum(CHANGE_CODES, { description: 'The rule that found it.' }),
  level: Type.Enum([...CHANGE_LEVELS], {
    description:
      'What it does to saved workflows. What breaks is `may_break` where it is about something that could not be read in full.',
  }),
  host_node: Type.String({ description: 'Name of the host node.' }),
  input: text('Name of the input.'),
  output: Type.Optional(count('Index of the output, from 0.')),
  before: text('What was there.'),
  after: text('What is there.'),
  message: Type.String({ description: 'The change as a sentence.' }),
})
export type HostNodeChange = Static<typeof HostNodeChange>
export type Change = Omit<HostNodeChange, 'host_node'>

/** Query of GET /nodes/{n}/compare. */
export const CompareQuery = Type.Object({
  from: Type.String({ 'x-pattern': VERSION_PATTERN, description: 'The version before.' }),
  to: Type.String({ 'x-pattern': VERSION_PATTERN, description: 'The version after.' }),
})
export type CompareQuery = Static<typeof CompareQuery>

/** Response of GET /nodes/{n}/compare. */
export const VersionComparison = Type.Object({
  node_id: Type.String({ description: 'Id of the pack.' }),
  from: Type.String({ description: 'The version before.' }),
  to: Type.String({ description: 'The version after.' }),
  verdict: Type.Enum([...CHANGE_LEVELS, 'none'], {
    description: 'The worst level; `none` where the host nodes of a version have not been read.',
  }),
  partial: Type.Boolean({ description: 'Whether host nodes of a version may be missing.' }),
  counts: Type.Object({
    breaks: count('Changes that break.'),
    may_break: count('Changes that may break.'),
    safe: count('Changes that are safe.'),
  }),
  changes: Type.Array(HostNodeChange, {
    description: 'Host node by host node, the worst first; at most 2,000, but all are counted.',
  }),
})
export type VersionComparison = Static<typeof VersionComparison>

/** The name of an output is in the sentence alone. */
type Facts = Partial<Pick<Change, 'input' | 'output' | 'before' | 'after'>> & {
  name?: string | undefined
}

/** Notes a change; what breaks only may break where it is about something that was not read in full. */
export type Report = (code: ChangeCode, facts?: Facts, isDoubtful?: boolean) => void

/** Makes a change. Names come from packs, so its sentence holds them as JSON texts. */
export const makeChange = (
  code: ChangeCode,
  { name, ...facts }: Facts = {},
  isDoubtful = false,
): Change => {
  const { level = 'safe', sentence = '' } = RULES.get(code) ?? {}
  const message = sentence.replaceAll(/\{(\w+)\}/g, (_whole, fact: keyof typeof facts) =>
    fact === 'output' ? placeOf(facts.output, name) : shown(facts[fact]),
  )
  return isDoubtful && level === 'breaks'
    ? { code, level: 'may_break', ...facts, message: `${message} It was not read in full.` }
    : { code, level, ...facts, message }
}

/** As people count: `2`, or `2, "masks",`. */
const placeOf = (output = 0, name?: string): string =>
  name === undefined ? `${output + 1}` : `${output + 1}, ${shown(name)},`
