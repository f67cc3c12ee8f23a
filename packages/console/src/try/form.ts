import type { TaskDetail } from '../tasks/types.ts'
import { tName } from '../words/translate.ts'
import { matches, type Body, type JsonSchema } from './schema.ts'
import { helpOf, isIneffective, labelOf, presetOf, sentence } from './words.ts'

export type Choice = string | number | boolean

/** Control by which a member is given. */
export type Control =
  /** A list has from `least` to `count` files. */
  | {
      is: 'files'
      accept: 'image/*' | 'video/*'
      least: number
      count: number
      isList: boolean
    }
  | { is: 'choice'; options: readonly Choice[] }
  | { is: 'range'; min: number; max: number; step: number }
  | { is: 'number'; min: number | undefined; max: number | undefined }
  | { is: 'switch' }
  | { is: 'text'; rows: number; maxLength: number | undefined }
  | { is: 'lines'; isNumeric: boolean }
  | { is: 'labels' }
  | { is: 'group'; fields: readonly Field[] }

export interface Field {
  name: string
  /** JSON pointer, as issues name the field. */
  pointer: string
  label: string
  help: string
  isRequired: boolean
  /** Default when it is not given; undefined: the service decides, by the model. */
  preset: unknown
  control: Control
  /** As the document has it. */
  description: string
  /** Position: in the form itself, or folded with its like. */
  place: 'main' | 'light' | 'rare' | 'option'
}

/** Members that few give, wherever they stand. */
const RARE =
  /^(webhook|callback|wm)_|^(payload|interpolate_from_original|preserve_details|seed|off_peak|is_rec|watermark|bgm|audio_type|movement_amplitude)$/
/** Members about the task itself, whatever its kind. */
const OPTION = /^kiln_|^priority$/
/** Members after these are rare, too: the document has the important ones first. */
const SHOWN = 10
/** A number that is drawn by a slider has this many values at most; one that is chosen from a list, that many. */
const RANGE = 1000
const LIST = 24
/** So many choices stand beside each other. */
export const FEW = 4

/** The fields of a form, from the schema of a body. */
export const readFields = (schema: JsonSchema, pointer = ''): Field[] =>
  Object.entries(schema.properties ?? {}).map(([name, member], index) => {
    const { title, description = '', default: preset } = member
    const control = controlOf(name, member, `${pointer}/${name}`)
    const isRare = RARE.test(name) || index >= SHOWN || control.is === 'group'
    return {
      name,
      pointer: `${pointer}/${name}`,
      label: title ? tName(title) : name === 'images' ? labelOfImages(description) : labelOf(name),
      help: helpOf(description),
      isRequired: schema.required?.includes(name) ?? false,
      preset,
      control,
      description,
      place: placeOf(name, isRare),
    }
  })

const placeOf = (name: string, isRare: boolean): Field['place'] => {
  if (OPTION.test(name)) return 'option'
  if (name.startsWith('transfer_light_from')) return 'light'
  return isRare ? 'rare' : 'main'
}

const labelOfImages = (description: string): string =>
  tName(
    sentence(
      /^The (.*? (image|frame))[:;]/.exec(description)?.[1]?.replace(' the', '') ?? 'images',
    ),
  )

const controlOf = (name: string, schema: JsonSchema, pointer: string): Control => {
  const [type] = [schema.type ?? []].flat()
  const { items, maxItems: count = 1, minItems: least = count } = schema
  const files = { is: 'files', least, count, isList: items !== undefined } as const
  if (isPicture(items ?? schema)) return { ...files, accept: 'image/*' }
  if (name === 'video_url' || isVideo(name, items ?? schema)) return { ...files, accept: 'video/*' }
  if (schema.enum) return { is: 'choice', options: schema.enum.filter((one) => one !== null) }
  if (schema.properties) return { is: 'group', fields: readFields(schema, pointer) }
  if (schema.additionalProperties) return { is: 'labels' }
  if (type === 'array')
    return { is: 'lines', isNumeric: /number|integer/.test(String([items?.type ?? []].flat()[0])) }
  if (type === 'boolean')
    return schema.default === undefined
      ? { is: 'choice', options: [true, false] }
      : { is: 'switch' }
  if (type === 'number' || type === 'integer') return numberOf(schema, type === 'integer')
  const isLong = name === 'prompt' || (schema.maxLength ?? 0) > 10_000
  return { is: 'text', rows: isLong ? 3 : 0, maxLength: schema.maxLength }
}

/** The pattern of a picture takes a data: URI. */
const isPicture = ({ pattern }: JsonSchema): boolean =>
  pattern?.includes('[dD][aA][tT][aA]') ?? false

/** An address of a template is that of a video. */
const isVideo = (name: string, { pattern }: JsonSchema): boolean =>
  pattern?.includes('[hH][tT][tT][pP]') === true && !RARE.test(name)

const numberOf = (schema: JsonSchema, isWhole: boolean): Control => {
  const { minimum: min, maximum: max, default: preset } = schema
  const span = min === undefined || max === undefined ? Infinity : max - min
  if (min === undefined || max === undefined || span > RANGE) return { is: 'number', min, max }
  const longest = preset === undefined ? LIST : FEW - 1
  if (isWhole && span <= longest)
    return { is: 'choice', options: Array.from({ length: span + 1 }, (_, index) => min + index) }
  // A slider always stands somewhere: one without a default would show a value that is not sent.
  if (preset === undefined) return { is: 'number', min, max }
  return { is: 'range', min, max, step: isWhole || span >= 10 ? 1 : span / 100 }
}

/**
 * Lists the options of a choice that fit the fields above it in the form: lengths and resolutions follow the model. Users
 * decide in the order of the members, so a field never depends on one below.
 */
export const optionsFor = (schema: JsonSchema, field: Field, body: Body): readonly Choice[] => {
  const { control } = field
  const options = control.is === 'choice' ? control.options : [true, false]
  const names = Object.keys(schema.properties ?? {})
  const before = names.slice(0, names.indexOf(field.name))
  const above = Object.fromEntries(before.map((name) => [name, body[name]]))
  const isWrong = (part: Body): boolean => schema.not !== undefined && matches(schema.not, part)
  // Two pictures that exclude each other are no matter of this field.
  if (isWrong(above)) return options
  return options.filter((option) => !isWrong({ ...above, [field.name]: option }))
}

/** The body without what does not go with the rest any more, such as a length that another model has not. */
export const normalize = (schema: JsonSchema, fields: readonly Field[], body: Body): Body => {
  let normalized = body
  for (const field of fields.filter(({ control }) => ['choice', 'switch'].includes(control.is)))
    if (!optionsFor(schema, field, normalized).includes(normalized[field.name] as Choice))
      normalized = { ...normalized, [field.name]: undefined }
  return withoutEmpty(normalized)
}

/** Values that say nothing, as JSON. */
const EMPTY = new Set([undefined, 'null', '""', '[]', '{}'])

/** Members that say nothing are not sent. */
export const withoutEmpty = (body: Body): Body =>
  Object.fromEntries(Object.entries(body).filter(([, value]) => !EMPTY.has(JSON.stringify(value))))

/** The body with the defaults of what is not given, also those that the service chooses by the model. */
export const withPresets = (fields: readonly Field[], body: Body): Body =>
  fields.reduce((full: Body, field) => {
    const { name, preset, description, isRequired, control } = field
    // Pictures that must be given will be.
    const own = isRequired && control.is === 'files' ? [''] : presetOf(name, description, full)
    return { ...full, [name]: body[name] ?? preset ?? own }
  }, {})

/** Fields that change nothing beside the others. */
export const findIneffective = (fields: readonly Field[], full: Body): ReadonlySet<Field> =>
  new Set(fields.filter(({ name, description }) => isIneffective(name, description, full)))

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

/** Pointers of all fields, to which issues are sorted. */
export const pointersOf = (fields: readonly Field[]): string[] =>
  fields.flatMap(({ pointer, control }) =>
    control.is === 'group' ? [pointer, ...pointersOf(control.fields)] : [pointer],
  )

/** Names of required members that are not given yet. */
export const missing = (fields: readonly Field[], body: Body): Field[] =>
  fields.filter(({ name, isRequired, control }) => {
    const value = body[name]
    const least = control.is === 'files' ? control.least : 1
    return isRequired && [value ?? []].flat().filter(Boolean).length < least
  })

/** Body of a form that continues a task: the same again, or with `use` the next step from its result. */
export const startFrom = (
  { id, use }: { id: string; use: string | undefined },
  fields: readonly Field[],
  task: TaskDetail,
): Body => {
  if (task.kind === id && use === undefined) return onlyChanges(fields, task.request.body)
  const result = task.results[0]?.url
  const input = fields.find(
    ({ control }) => control.is === 'files' && control.accept.startsWith(task.family),
  )
  const valueOf = (field: Field): unknown => {
    const { name, isRequired, control } = field
    if (field === input && control.is === 'files' && result !== undefined)
      return control.isList ? [result] : result
    if (name === 'video_creation_id') return task.task_id
    // What must be chosen is, so that the next step is one press away: the same model, if it can.
    if (!isRequired || control.is !== 'choice') return undefined
    const { options } = control
    return options.find((option) => option === task.request.body[name]) ?? options[0]
  }
  const values = fields.map((field) => [field.name, valueOf(field)])
  return onlyChanges(fields, Object.fromEntries(values) as Body)
}
