import { doubt, makeChange } from './change.ts'
import type { Change } from './change.ts'
import { compareTypes } from './host-node-form.ts'
import type { InputForm } from './host-node-form.ts'
import { plain, writeJson } from './read-json.ts'

/** The changes of type, choices and options of one input, which differ. */
export const compareSpecs = (before: InputForm, after: InputForm, isDynamic: boolean): Change[] => {
  const kind = [...compareKind(before, after), ...compareChoices(before, after)]
  const told = [...(isDynamic ? kind.map(doubt) : kind), ...compareOptions(before, after)]
  const isOther = told.length === 0 || writeOthers(before) !== writeOthers(after)
  return isOther ? [...told, makeChange('input_options_changed', { input: before.name })] : told
}

const compareKind = (before: InputForm, after: InputForm): Change[] => {
  const facts = { input: before.name, before: before.types.join(), after: after.types.join() }
  const types = compareTypes(before.types, after.types)
  if (before.hasWidget && !after.hasWidget) return [makeChange('widget_became_socket', facts)]
  if (types === 'changed' && isNumber(before) && isNumber(after))
    return [makeChange('number_type_changed', facts)]
  if (types !== 'same') return [makeChange(`input_type_${types}`, facts)]
  return before.hasWidget === after.hasWidget ? [] : [makeChange('socket_became_widget', facts)]
}

/** A widget takes either kind of number. */
const isNumber = ({ hasWidget, types }: InputForm): boolean =>
  hasWidget && (types[0] === 'INT' || types[0] === 'FLOAT')

const compareChoices = (
  { name: input, choices: before }: InputForm,
  { choices: after }: InputForm,
): Change[] => {
  if (!before || !after) return []
  const gone = listWithout(before, after)
  const come = listWithout(after, before)
  return [
    ...(gone !== undefined ? [makeChange('option_removed', { input, before: gone })] : []),
    ...(come !== undefined ? [makeChange('option_added', { input, after: come })] : []),
  ]
}

/** The first of those choices that others do not have, as a text. */
const listWithout = (choices: readonly string[], others: readonly string[]): string | undefined => {
  const known = new Set(others)
  const own = choices.filter((choice) => !known.has(choice))
  if (own.length === 0) return undefined
  return own.slice(0, 5).join(', ') + (own.length > 5 ? ` and ${own.length - 5} more` : '')
}

const compareOptions = (before: InputForm, after: InputForm): Change[] => [
  ...compareBounds(before, after),
  ...(['default', 'step'] as const).flatMap((option) => {
    const textOf = ({ options }: InputForm) => plain(options.get(option) ?? 'none')
    const [old, now] = [textOf(before), textOf(after)]
    return old === now
      ? []
      : [makeChange(`${option}_changed`, { input: before.name, before: old, after: now })]
  }),
]

const compareBounds = (before: InputForm, after: InputForm): Change[] => {
  if (!isNumber(before) || !isNumber(after)) return []
  const [old, now] = [boundsOf(before), boundsOf(after)]
  if (old.min === now.min && old.max === now.max) return []
  const isNarrower = now.min > old.min || now.max < old.max
  return [
    makeChange(isNarrower ? 'bounds_narrowed' : 'bounds_widened', {
      input: before.name,
      before: `${old.min} to ${old.max}`,
      after: `${now.min} to ${now.max}`,
    }),
  ]
}

const boundsOf = ({ options }: InputForm): { min: number; max: number } => {
  const [min, max] = [options.get('min'), options.get('max')]
  return {
    min: typeof min === 'number' ? min : -Infinity,
    max: typeof max === 'number' ? max : Infinity,
  }
}

/** Options that other changes tell of. */
const TOLD = ['default', 'min', 'max', 'step', 'options', 'forceInput']

const writeOthers = ({ options }: InputForm): string =>
  writeJson(new Map([...options].filter(([name]) => !TOLD.includes(name))))
