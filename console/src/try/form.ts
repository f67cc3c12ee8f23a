import type { TaskDetail } from '../tasks/types.ts'
import type { Kind } from './kinds.ts'
import { matches, type Body, type JsonSchema } from './schema.ts'

export type Choice = string | number | boolean

/** How a member is given. */
export type Control =
  | { is: 'files'; accept: 'image/*' | 'video/*'; count: number; isList: boolean }
  | { is: 'choice'; options: readonly Choice[] }
  | { is: 'range'; min: number; max: number; step: number }
  | { is: 'number'; min: number | undefined; max: number | undefined }
  | { is: 'switch' }
  | { is: 'text'; rows: number; maxLength: number | undefined }
  | { is: 'group'; fields: readonly Field[] }

export interface Field {
  name: string
  /** As faults name it. */
  pointer: string
  label: string
  help: string
  isRequired: boolean
  /** What holds when it is not given; undefined: the service decides, by the model. */
  preset: unknown
  control: Control
  /** Stands under Advanced. */
  isRare: boolean
}

/** What few give, wherever it stands among the members. */
const RARE = new Set(['webhook_url', 'callback_url', 'payload'])
/** Members after these are rare, too: the document has the important ones first. */
const SHOWN = 10
/** A number that is drawn by a slider has this many values at most; one that is chosen from a list, that many. */
const RANGE = 1000
const LIST = 24
const FEW = 4

/** The fields of a form, from the schema of a body. */
export const readFields = (schema: JsonSchema, pointer = ''): Field[] =>
  Object.entries(schema.properties ?? {}).map(([name, member], index) => {
    const control = controlOf(name, member, `${pointer}/${name}`)
    return {
      name,
      pointer: `${pointer}/${name}`,
      label: sentence(name),
      help: helpOf(member, control),
      isRequired: schema.required?.includes(name) ?? false,
      preset: member.default,
      control,
      isRare: RARE.has(name) || index >= SHOWN || control.is === 'group',
    }
  })

/** `light_transfer_strength` as people write it. */
const sentence = (name: string): string => {
  const words = name.replaceAll('_', ' ')
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** How a picture may be written is for programs, and what each model has is seen from the choice. */
const helpOf = ({ description = '' }: JsonSchema, { is }: Control): string =>
  is === 'files'
    ? description.replace(/\s*Base64.*$/s, '')
    : description.replace(/, by model.*$/s, '; by default the model’s own.')

const controlOf = (name: string, schema: JsonSchema, pointer: string): Control => {
  const [type] = [schema.type ?? []].flat()
  if (isPicture(schema)) return files('image/*', 1, false)
  if (schema.items && isPicture(schema.items)) return files('image/*', schema.maxItems ?? 1, true)
  if (name === 'video_url') return files('video/*', 1, false)
  if (schema.enum) return { is: 'choice', options: schema.enum.filter(isChoice) }
  if (schema.properties) return { is: 'group', fields: readFields(schema, pointer) }
  if (type === 'boolean')
    return schema.default === undefined
      ? { is: 'choice', options: [true, false] }
      : { is: 'switch' }
  if (type === 'number' || type === 'integer') return numberOf(schema, type === 'integer')
  const isLong = name === 'prompt' || (schema.maxLength ?? 0) > 10_000
  return { is: 'text', rows: isLong ? 3 : 0, maxLength: schema.maxLength }
}

const files = (accept: 'image/*' | 'video/*', count: number, isList: boolean): Control => ({
  is: 'files',
  accept,
  count,
  isList,
})

/** The pattern of a picture takes a data: URI. */
const isPicture = ({ pattern }: JsonSchema): boolean =>
  pattern?.includes('[dD][aA][tT][aA]') ?? false

const isChoice = (value: unknown): value is Choice => value !== null

const numberOf = (
  { minimum: min, maximum: max, ...rest }: JsonSchema,
  isWhole: boolean,
): Control => {
  const span = min === undefined || max === undefined ? Infinity : max - min
  if (min === undefined || max === undefined || span > RANGE) return { is: 'number', min, max }
  const most = rest.default === undefined ? LIST : FEW - 1
  if (isWhole && span <= most)
    return { is: 'choice', options: Array.from({ length: span + 1 }, (_, index) => min + index) }
  return { is: 'range', min, max, step: isWhole || span >= 10 ? 1 : span / 100 }
}

/**
 * What of a choice goes with what stands above it in the form: lengths and resolutions follow the model. The order of the
 * members is that in which one decides, so a field never depends on one below.
 */
export const optionsFor = (schema: JsonSchema, field: Field, body: Body): readonly Choice[] => {
  const { control } = field
  const options = control.is === 'choice' ? control.options : [true, false]
  const names = Object.keys(schema.properties ?? {})
  const above = Object.fromEntries(
    names.slice(0, names.indexOf(field.name)).map((name) => [name, body[name]]),
  )
  return options.filter(
    (option) => !schema.not || !matches(schema.not, { ...above, [field.name]: option }),
  )
}

const isChosen = ({ control }: Field): boolean => control.is === 'choice' || control.is === 'switch'

/** The body without what does not go with the rest any more, such as a length that another model has not. */
export const settle = (schema: JsonSchema, fields: readonly Field[], body: Body): Body => {
  let settled = body
  for (const field of fields) {
    const value = settled[field.name]
    if (value === undefined || !isChosen(field)) continue
    if (!optionsFor(schema, field, settled).includes(value as Choice))
      settled = { ...settled, [field.name]: undefined }
  }
  return withoutEmpty(settled)
}

/** Members that say nothing are not sent. */
export const withoutEmpty = (body: Body): Body =>
  Object.fromEntries(
    Object.entries(body).filter(
      ([, value]) =>
        value !== undefined &&
        value !== null &&
        value !== '' &&
        !(typeof value === 'object' && Object.keys(value).length === 0),
    ),
  )

/** A body as it was kept, with defaults: what differs from them, of the members that there are. */
export const onlyChanges = (fields: readonly Field[], body: Body): Body =>
  withoutEmpty(
    Object.fromEntries(
      fields.map(({ name, preset, control }) => {
        const value = body[name]
        if (control.is === 'group')
          return [name, onlyChanges(control.fields, (value ?? {}) as Body)]
        return [name, value === preset ? undefined : value]
      }),
    ),
  )

/** Pointers of all fields, to sort faults to. */
export const pointersOf = (fields: readonly Field[]): string[] =>
  fields.flatMap(({ pointer, control }) =>
    control.is === 'group' ? [pointer, ...pointersOf(control.fields)] : [pointer],
  )

/** Names of required members that are not given yet. */
export const missing = (fields: readonly Field[], body: Body): Field[] =>
  fields.filter(({ name, isRequired, control }) => {
    const value = body[name]
    const count = control.is === 'files' && control.isList ? control.count : 1
    return isRequired && [value ?? []].flat().filter(Boolean).length < count
  })

/** What a form begins with that is to go on from a task: the same again, or the next step from its result. */
export const startFrom = (kind: Kind, fields: readonly Field[], task: TaskDetail): Body => {
  if (task.request.path === kind.path) return onlyChanges(fields, task.request.body)
  const result = task.results[0]?.url
  const values = fields.map(({ name, isRequired, control }) => {
    if (control.is === 'files' && result !== undefined && takes(control.accept, task))
      return [name, control.isList ? [result] : result] as const
    if (name === 'video_creation_id') return [name, task.task_id] as const
    // What must be chosen is, so that the next step is one press away: the same model, if it can.
    if (!isRequired || control.is !== 'choice') return [name, undefined] as const
    const [same] = control.options.filter((option) => option === task.request.body[name])
    return [name, same ?? control.options[0]] as const
  })
  return onlyChanges(fields, Object.fromEntries(values))
}

const takes = (accept: string, { family }: TaskDetail): boolean => accept.startsWith(family)
