import { Type, type TSchema } from 'typebox'

import {
  IMAGE_BYTES,
  image,
  webhookUrl,
  type ImageKind,
} from '../../../tasks/domain/image/image-kind.ts'
import { ADDRESS_MAX, ADDRESS_PATTERN } from '../../../platform/domain/address.ts'
import { CUSTOM, CUSTOM_SEGMENT, customPath } from '../../../tasks/domain/custom-kind.ts'
import { IMAGE_OPTIONS } from '../../../tasks/domain/task-options.ts'
import type { EngineName } from '../../../tasks/domain/engine.ts'
import { MAX_LISTED } from '../../../tasks/domain/listed-file.ts'
import { adviseLoader, fieldOf, fileOf, takesFileName, type Field } from './fields.ts'
import { narrow } from './field-rules.ts'
import { describeNode, type Graph } from './graph.ts'
import { describeAbsent, listChoices, listInputs, mediaOf } from './node-class.ts'
import type { InputSpec, NodeClasses } from './node-class.ts'
import type { Literal, Mark, Template } from './template.ts'

/** Member of the body of a custom kind, as a JSON Schema. */
export interface Member {
  type?: 'string' | 'number' | 'integer' | 'boolean' | 'array'
  /** Rules of each value of a list. */
  items?: Omit<Member, 'default' | 'required' | 'description'>
  minItems?: number
  maxItems?: number
  enum?: (string | number)[]
  minimum?: number
  maximum?: number
  maxLength?: number
  /** Value in the graph; absent of a file, which must be given, and of a seed. */
  default?: Literal
  /** Label of its author; shown as title. */
  'x-title'?: string
  description?: string
  /** It must be given; where nothing is said, a file must. */
  required?: boolean
  /** Kind of a file. */
  'x-media'?: 'image' | 'video'
}
export type Members = Readonly<Record<string, Member>>

/** Finds the medium of a member that is a file, or a list of files. */
export const mediumOf = ({ 'x-media': medium, items }: Member): Member['x-media'] =>
  medium ?? items?.['x-media']

/** A template that makes a kind, as the table has it. */
export interface CustomTemplate {
  id: number
  /** Without the folder. */
  name: string
  members: Members
  /** The only owners who may make its tasks; absent or null: all. */
  owners?: string[] | null
  /** Engine of ENGINES_HTTP that it is; null of a template of ComfyUI. */
  engine?: EngineName | null
}

/**
 * Describes the body of a custom kind by what instances say of the inputs that its template marks. Where they differ, a
 * value is allowed that all take.
 * @param known classes of the instances that can run it, one at least
 * @returns the members, or the issues for an operator
 */
export const describeMembers = (
  { graph, marks, values, fields = {} }: Template,
  known: readonly NodeClasses[],
): { members: Members; issues: string[] } => {
  const members = new Map<string, Member>()
  const issues = new Set<string>()
  for (const mark of marks)
    for (const classes of known) {
      const described = describeMark(graph, mark, { classes, map: values[mark.name] })
      const member =
        typeof described === 'string' ? described : join(members.get(mark.name), described)
      const node = graph[mark.node]
      if (typeof member !== 'string') members.set(mark.name, member)
      else if (node) issues.add(`${describeNode(mark.node, node)}: ${member}`)
    }
  for (const [name, member] of members) {
    const narrowed = narrow(member, fields[name] ?? {})
    if (typeof narrowed !== 'string') members.set(name, narrowed)
    else issues.add(`the map's /fields/${name} ${narrowed}`)
  }
  return { members: Object.fromEntries(members), issues: [...issues] }
}

const TEXT_CHARACTERS = 10_000

const describeMark = (
  graph: Graph,
  { name, node, input, divisor }: Mark,
  { classes, map }: { classes: NodeClasses; map: Template['values'][string] | undefined },
): Member | string => {
  const { [node]: of = { class_type: '', inputs: {}, title: '' } } = graph
  const { class_type: type, inputs } = of
  const known = classes[type] ?? {}
  const spec = listInputs(known, inputs)[input]
  if (!spec) return describeAbsent(of, input)
  const literal = inputs[input] as Literal
  const description = spec.tooltip ?? `Input ${input} of node ${type}.`
  const media = fileOf(type, input)
  if (media) return { 'x-media': media, description }
  const other = mediaOf(type, { input, spec, value: literal })
  if (other !== undefined)
    return `${input} takes a file, and no field can be one there: ${adviseLoader(other)}`
  if (map || spec.type === 'COMBO') {
    const choices = map
      ? Object.keys(map)
      : listChoices(known, inputs, input).filter((one) => typeof one === 'string')
    const choice = choices.find((one) => (map ? map[one] : one) === literal)
    if (choices.length === 0) return `${input} has no choices`
    return { enum: choices, ...(choice !== undefined && { default: choice }), description }
  }
  if (spec.type === 'BOOLEAN') return { type: 'boolean', default: literal === true, description }
  if (spec.type === 'INT' || spec.type === 'FLOAT') {
    const { default: preset, ...number } = describeNumber(spec, Number(literal), divisor)
    return { ...number, ...(name !== 'seed' && { default: preset }), description }
  }
  if (spec.type !== 'STRING') return `${input} is of type ${spec.type}, which no field can be`
  if (takesFileName(type))
    return `${type} names a file by it, and no caller may name one${/load/i.test(type) ? `: ${adviseLoader(type)}` : ''}`
  const maxLength = Math.max(TEXT_CHARACTERS, [...String(literal)].length)
  return { type: 'string', maxLength, default: String(literal), description }
}

/** Callers give what the node takes, times the divisor. What the graph has is always allowed. */
const describeNumber = (
  { type, min = -Infinity, max = Infinity }: InputSpec,
  literal: number,
  divisor: number,
) => {
  const value = Number((literal * divisor).toPrecision(12))
  const ends = [min * divisor, max * divisor, value].map((end) => Number(end.toPrecision(12)))
  return {
    type: type === 'INT' && divisor === 1 ? ('integer' as const) : ('number' as const),
    ...range(Math.min(...ends), Math.max(...ends)),
    default: value,
  }
}

/** Ends of a range, where it has any. JSON rounds whole numbers beyond these. */
const range = (minimum: number, maximum: number) => ({
  ...(minimum > -Infinity && { minimum: Math.max(minimum, Number.MIN_SAFE_INTEGER) }),
  ...(maximum < Infinity && { maximum: Math.min(maximum, Number.MAX_SAFE_INTEGER) }),
})

/** Joins what two inputs, or two instances, say of a member. */
const join = (before: Member | undefined, member: Member): Member | string => {
  if (!before) return member
  if (typeOf(before).type !== typeOf(member).type || before['x-media'] !== member['x-media'])
    return `a field has one type, and others of its name are a ${typeOf(before).type}`
  const choices = before.enum?.filter((choice) => member.enum?.includes(choice))
  if (choices?.length === 0) return 'there is no choice that all inputs of its name have'
  const { default: preset, minimum: min = -Infinity, maximum: max = Infinity, ...rest } = before
  const [low, high] = [Math.max(min, member.minimum ?? min), Math.min(max, member.maximum ?? max)]
  if (low > high) return 'there is no number that all inputs of its name take'
  // Without a default each node keeps what the graph has.
  const isOffered =
    choices?.includes(preset as string) ?? !(Number(preset) < low || Number(preset) > high)
  return {
    ...rest,
    ...(choices && { enum: choices }),
    ...(member.type === 'integer' && { type: member.type }),
    ...range(low, high),
    ...(preset !== undefined && isOffered && { default: preset }),
  }
}

const typeOf = (member: Member): Field =>
  member['x-media'] ? { type: 'file' } : fieldOf(Type.Unsafe(member))

/** The template of a custom kind with its fields, as the engine takes one. */
export const withFields = (template: Template, members: Members): Template => ({
  ...template,
  kind: template.name,
  marks: template.marks.map((mark) => {
    const member = members[mark.name]
    return { ...mark, field: member && typeOf(member) }
  }),
})

/** Makes the kind of a template: with it a task is made as one of the service's own kinds. */
export const makeCustomKind = ({
  id,
  name,
  members,
  owners,
  engine,
}: CustomTemplate): ImageKind => {
  const settings: Record<string, TSchema> = {}
  const files: Record<string, TSchema> = {}
  for (const [field, { required, ...member }] of Object.entries(members)) {
    const media = mediumOf(member)
    const isRequired = required ?? media !== undefined
    const schema = media ? makeFileSchema(media, member, isRequired) : Type.Unsafe(member)
    ;(media ? files : settings)[field] = isRequired ? schema : Type.Optional(schema)
  }
  const namesOf = (media: string): string[] =>
    Object.entries(members).flatMap(([field, member]) => (mediumOf(member) === media ? field : []))
  const images = namesOf('image')
  return {
    kind: `${CUSTOM}${name}`,
    path: customPath(name),
    tasks: customPath(name),
    segment: CUSTOM_SEGMENT,
    title: `Run ${engine == null ? 'the template' : 'the engine'} ${name}`,
    description:
      'A kind that an operator has added. Responds once the task is durable; it runs afterwards, with the template as it is now.',
    body: Type.Object({ ...files, webhook_url: webhookUrl, ...settings, ...IMAGE_OPTIONS }),
    settings: Type.Object(settings),
    images,
    videos: namesOf('video'),
    lists: Object.keys(files).filter((field) => members[field]?.items),
    maxBytes: Math.max(1, countInline(images.map((field) => members[field]))) * IMAGE_BYTES,
    emptyIsAbsent: [],
    templateId: id,
    owners: owners ?? undefined,
    engine: engine ?? undefined,
  }
}

/** So many images of a list may stand in a body as Base64, if each is as large as one may be: others are links. */
const INLINE_ITEMS = 4

const countInline = (images: readonly (Member | undefined)[]): number =>
  images.reduce((sum, image) => sum + (image?.items ? INLINE_ITEMS : 1), 0)

const makeFileSchema = (
  media: keyof typeof MEDIA,
  { items, 'x-title': title, description = '', minItems = 0, maxItems = MAX_LISTED }: Member,
  isRequired: boolean,
): TSchema => {
  const file = MEDIA[media](description)
  const schema = items
    ? Type.Array(file, {
        minItems: isRequired ? Math.max(1, minItems) : minItems,
        maxItems,
        description,
      })
    : file
  return Object.assign(schema, title !== undefined && { 'x-title': title })
}

const MEDIA = {
  image,
  video: (description: string) =>
    Type.String({
      minLength: 1,
      maxLength: ADDRESS_MAX,
      'x-pattern': ADDRESS_PATTERN,
      description: `${description} An https URL.`,
    }),
}
