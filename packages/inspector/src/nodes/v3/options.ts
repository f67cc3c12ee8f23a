import { isClass, isUnknown } from '../../interpret/values/read-value.ts'
import { makeDict } from '../../interpret/operate/mapping.ts'
import { findHostText, ownEntry } from '../../host/class-facts.ts'
import { FACTS } from '../../host/facts.ts'
import { findPart, hasWidget, type SchemaPart } from '../../host/schema-part.ts'
import { dictEntries } from '../../interpret/values/dict.ts'
import { makeList } from '../../interpret/values/make-value.ts'
import type { DictValue, Value } from '../../interpret/types.ts'
import { addNested, type MakeInputDict } from './nested-options.ts'
import { socketTypeOf, textOf, type V3Reading } from './reading.ts'

const FIELD = 'input_types'

/** Options of every input in the host's order; those of widgets follow, then those of the type. */
const FIRST = ['display_name', 'tooltip', 'lazy', 'raw_link', 'advanced']
const OF_WIDGETS = ['default', 'socketless', 'widget_type', 'force_input']
/** Parameters that are no options, or stand in them in another form. */
const NO_OPTIONS = new Set(['id', 'optional', 'slot', 'types', 'extra_dict'])

interface OptionsContext {
  /** The input that this one wraps. */
  inner: SchemaPart | undefined
  /** Passed in, as inputs may hold further inputs. */
  makeInputDict: MakeInputDict
}

/** Reads the options of an input, spelled as in the older form. Unknown ones are left out, lists apart. */
export const readOptions = (
  reading: V3Reading,
  part: SchemaPart,
  context: OptionsContext,
): DictValue => {
  const options = new Map<string, Value>()
  const { inner } = context
  if (inner && part.typeName === 'MultiType') addInner(reading, options, inner, context)
  addGiven(reading, options, part, FIRST)
  addExtra(reading, options, part)
  addGiven(reading, options, part, OF_WIDGETS)
  const own = [...part.values.keys()].filter((name) => !isCommon(name))
  for (const name of own)
    if (!addSpecial(reading, options, part, name, context)) addGiven(reading, options, part, [name])
  return makeDict(reading.interpreter.runtime, options)
}

const isCommon = (name: string): boolean =>
  FIRST.includes(name) || OF_WIDGETS.includes(name) || NO_OPTIONS.has(name)

/** The widget of an input that takes further types, whose own type then has to be stated. */
const addInner = (
  reading: V3Reading,
  options: Map<string, Value>,
  inner: SchemaPart,
  context: OptionsContext,
): void => {
  const values = new Map(inner.values)
  if (hasWidget(inner)) values.set('widget_type', socketTypeOf(reading, inner, FIELD))
  const read = readOptions(reading, { ...inner, values }, { ...context, inner: undefined })
  for (const [name, value] of dictEntries(read))
    if (typeof name === 'string') options.set(name, value)
}

const addGiven = (
  reading: V3Reading,
  options: Map<string, Value>,
  part: SchemaPart,
  names: readonly string[],
): void => {
  for (const name of names) {
    const value = resolve(part.values.get(name))
    if (value === undefined || value === null) continue
    if (isUnknown(value)) reading.record(FIELD)
    else options.set(ownEntry(FACTS.v3.options, name) ?? name, value)
  }
}

/** A member of one of the host's enumerations is its text. */
const resolve = (value: Value | undefined): Value | undefined =>
  isUnknown(value) ? (findHostText(value) ?? value) : value

/** Options that the pack hands through. */
const addExtra = (
  { interpreter, record }: V3Reading,
  options: Map<string, Value>,
  part: SchemaPart,
): void => {
  const extra = part.values.get('extra_dict')
  if (extra === undefined || extra === null) return
  const dict = interpreter.asDict(extra)
  if (!dict || dict.rest) record(FIELD)
  for (const [key, given] of dict ? dictEntries(dict) : []) {
    const [name, value] = [interpreter.text(key), resolve(given)]
    if (name === undefined || isUnknown(value)) record(FIELD)
    else if (value !== undefined && value !== null) options.set(name, value)
  }
}

/** Parameters with a form of their own; false for all others. */
const addSpecial = (
  reading: V3Reading,
  options: Map<string, Value>,
  part: SchemaPart,
  name: string,
  { makeInputDict }: OptionsContext,
): boolean => {
  const value = part.values.get(name) ?? null
  if (addNested(reading, options, { part, name, value, makeInputDict })) return true
  if (name === 'options') addChoices(reading, options, part, value)
  else if (name === 'upload') addUpload(reading, options, value)
  else if (name === 'remote') addRemote(reading, options, value)
  else return false
  return true
}

/** Choices of a combo: a list, or an enumeration of the pack. */
const addChoices = (
  { interpreter, record }: V3Reading,
  options: Map<string, Value>,
  part: SchemaPart,
  value: Value,
): void => {
  const isMultiple = part.typeName === 'MultiCombo'
  // The host emits it of every combo.
  if (isMultiple || part.typeName === 'Combo') options.set('multiselect', isMultiple)
  if (isUnknown(value)) record(FIELD)
  if (value !== null) options.set('options', isUnknown(value) ? makeList([], true) : listOf(value))
  if (isMultiple) options.set('multi_select', true)

  function listOf(choices: Value): Value {
    if (!isClass(choices)) return choices
    const { items, rest } = interpreter.readItems(choices)
    return makeList(items, rest)
  }
}

/** `upload=io.UploadType.image` is `image_upload: true`. */
const addUpload = (reading: V3Reading, options: Map<string, Value>, value: Value): void => {
  const text = textOf(reading, value, FIELD)
  if (text !== undefined) options.set(text, true)
}

const addRemote = (reading: V3Reading, options: Map<string, Value>, value: Value): void => {
  if (value === null) return
  const remote = findPart(value)
  if (remote?.maker !== 'RemoteOptions' || remote.rest) reading.record(FIELD)
  const given = new Map<string, Value>()
  if (remote) addGiven(reading, given, remote, [...remote.values.keys()])
  if (remote) options.set('remote', makeDict(reading.interpreter.runtime, given))
}
