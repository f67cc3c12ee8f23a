import type { Report } from './change.ts'
import { compareTypes, type InputForm } from './host-node-form.ts'
import { plain, writeJson } from './read-json.ts'

/**
 * Compares the inputs of a host node.
 * @param isDynamic whether list or options of an input depend on the user's machine in one of the versions
 */
export const compareInputs = (
  report: Report,
  before: readonly InputForm[],
  after: readonly InputForm[],
  isDynamic: (input: string) => boolean,
): void => {
  const [old, now] = [byName(before), byName(after)]
  const { removed, inserted, moved } = compareWidgets(before, after)
  const renamed = new Set<string>()
  for (const [place, one] of before.entries()) {
    const { name: input, isRequired } = one
    const [same, next] = [now.get(input), after[place]]
    if (same) {
      if (moved.has(input)) report('widget_moved', { input })
      else if (inserted.has(input)) report('widget_inserted', { input })
      // One that became a socket says so itself.
      else if (removed.has(input) && same.hasWidget) report('widget_removed', { input })
      if (isRequired !== same.isRequired)
        report(isRequired ? 'input_now_optional' : 'input_now_required', { input })
      if (one.text !== same.text) compareSpec(report, one, same, isDynamic(input))
    } else if (next && !old.has(next.name) && isRequired && isLike(one, next)) {
      renamed.add(next.name)
      report('input_renamed', { input, before: input, after: next.name })
    } else if (isRequired) report('input_removed', { input })
    else report(removed.has(input) ? 'widget_removed' : 'optional_input_removed', { input })
  }
  for (const { name: input, isRequired, hasWidget } of after) {
    if (old.has(input) || renamed.has(input)) continue
    if (inserted.has(input)) report('widget_inserted', { input })
    else if (!isRequired) report('optional_input_added', { input })
    else report(hasWidget ? 'widget_required' : 'socket_required', { input })
  }
}

const byName = (inputs: readonly InputForm[]): Map<string, InputForm> =>
  new Map(inputs.map((one) => [one.name, one]))

const isLike = (one: InputForm, other: InputForm): boolean =>
  one.isRequired === other.isRequired && one.text === other.text

/** Compares type, choices and options of one input, which differ. */
const compareSpec = (
  report: Report,
  before: InputForm,
  after: InputForm,
  isDynamic: boolean,
): void => {
  const { name: input } = before
  let isNotified = false
  const record: Report = (code, facts, isDoubtful) => {
    isNotified = true
    report(code, { input, ...facts }, isDoubtful)
  }
  compareKind(record, before, after, isDynamic)
  const [gone, come] = [without(before, after), without(after, before)]
  if (gone !== undefined) record('option_removed', { before: gone }, isDynamic)
  if (come !== undefined) record('option_added', { after: come })
  if (isNumber(before) && isNumber(after)) compareBounds(record, before, after)
  for (const option of ['default', 'step'] as const) {
    const [old, now] = [textOf(before, option), textOf(after, option)]
    if (old !== now) record(`${option}_changed`, { before: old, after: now })
  }
  if (!isNotified || writeOthers(before) !== writeOthers(after))
    report('input_options_changed', { input })
}

const compareKind = (
  report: Report,
  before: InputForm,
  after: InputForm,
  isDynamic: boolean,
): void => {
  const facts = { before: before.types.join(), after: after.types.join() }
  const types = compareTypes(before.types, after.types)
  if (before.hasWidget && !after.hasWidget) report('widget_became_socket', facts, isDynamic)
  else if (types === 'changed' && isNumber(before) && isNumber(after))
    report('number_type_changed', facts)
  else if (types !== 'same') report(`input_type_${types}`, facts, isDynamic)
  else if (before.hasWidget !== after.hasWidget) report('socket_became_widget', facts)
}

/** A widget takes either kind of number. */
const isNumber = ({ hasWidget, types: [type = ''] }: InputForm): boolean =>
  hasWidget && ['INT', 'FLOAT'].includes(type)

/** The first of those choices that another form does not have, as a text. */
const without = ({ choices }: InputForm, other: InputForm): string | undefined => {
  const known = new Set(other.choices)
  const own = other.choices && choices?.filter((choice) => !known.has(choice))
  if (!own || own.length === 0) return undefined
  return own.slice(0, 5).join(', ') + (own.length > 5 ? ` and ${own.length - 5} more` : '')
}

const compareBounds = (report: Report, before: InputForm, after: InputForm): void => {
  const [min, max] = [boundOf(before, 'min', -Infinity), boundOf(before, 'max', Infinity)]
  const [minNow, maxNow] = [boundOf(after, 'min', -Infinity), boundOf(after, 'max', Infinity)]
  if (min === minNow && max === maxNow) return
  const facts = { before: `${min} to ${max}`, after: `${minNow} to ${maxNow}` }
  report(minNow > min || maxNow < max ? 'bounds_narrowed' : 'bounds_widened', facts)
}

const boundOf = ({ options }: InputForm, name: string, otherwise: number): number => {
  const bound = options.get(name)
  return typeof bound === 'number' ? bound : otherwise
}

const textOf = ({ options }: InputForm, option: string): string =>
  plain(options.get(option) ?? 'none')

/** Options that other changes report. */
const COMPARED = ['default', 'min', 'max', 'step', 'options', 'forceInput']

const writeOthers = ({ options }: InputForm): string =>
  writeJson(new Map([...options].filter(([name]) => !COMPARED.includes(name))))

/**
 * Inputs by what their widgets do to saved graphs, which keep values by position. One that comes or goes behind all others
 * moves no value.
 */
type WidgetOrder = Record<'removed' | 'inserted' | 'moved', ReadonlySet<string>>

const compareWidgets = (before: readonly InputForm[], after: readonly InputForm[]): WidgetOrder => {
  const [old, now] = [placesOf(before), placesOf(after)]
  const kept = [...old.keys()].filter((row) => now.has(row))
  const keptNow = [...now.keys()].filter((row) => old.has(row))
  const shifted = kept.filter((row) => old.get(row) !== now.get(row))
  const findLone = (rows: Places, others: Places): Set<string> => {
    const last = shifted.reduce((last, row) => Math.max(last, rows.get(row) ?? 0), -1)
    const lone = [...rows].filter(([row, place]) => place < last && !others.has(row))
    return inputsOf(lone.map(([row]) => row))
  }
  return {
    removed: findLone(old, now),
    inserted: findLone(now, old),
    moved: inputsOf(kept.filter((row, place) => keptNow[place] !== row)),
  }
}

export type Places = ReadonlyMap<string, number>

/** Behind the name of a row below a widget; no name holds NUL. */
const CONTROL = '\0'

/** Places of the values that a saved graph keeps: of each widget, and of the rows below it. */
export const placesOf = (inputs: readonly InputForm[]): Places =>
  new Map(
    inputs
      .filter(({ hasWidget }) => hasWidget)
      .flatMap(({ name, hasControl }) => (hasControl ? [name, name + CONTROL] : [name]))
      .map((row, place) => [row, place]),
  )

const inputsOf = (rows: readonly string[]): Set<string> =>
  new Set(rows.map((row) => row.replace(CONTROL, '')))
