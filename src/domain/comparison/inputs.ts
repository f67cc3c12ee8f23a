import { makeChange } from './change.ts'
import type { Change } from './change.ts'
import type { InputForm } from './host-node-form.ts'
import { compareSpecs } from './input-spec.ts'
import { compareWidgets } from './widget-order.ts'
import type { WidgetOrder } from './widget-order.ts'

/**
 * All changes of the inputs of one host node.
 * @param isDynamic whether list or options of an input depend on the user's machine in one of the versions
 */
export const compareInputs = (
  before: readonly InputForm[],
  after: readonly InputForm[],
  isDynamic: (input: string) => boolean,
): Change[] => {
  const [old, now] = [before, after].map((inputs) => new Map(inputs.map((one) => [one.name, one])))
  const order = compareWidgets(before, after)
  const renamed = new Set<InputForm>()
  const gone = before.flatMap((one, place) => {
    if (now?.has(one.name)) return []
    const other = after[place]
    // A required one that is like it stands in its place.
    if (!one.isRequired || !other?.isRequired || old?.has(other.name) || other.text !== one.text)
      return [describeGone(one, order)]
    renamed.add(other)
    return [makeChange('input_renamed', { input: one.name, before: one.name, after: other.name })]
  })
  const come = after.filter((one) => !old?.has(one.name) && !renamed.has(one))
  const kept = before.flatMap((one) => {
    const other = now?.get(one.name)
    if (!other) return []
    const specs = one.text === other.text ? [] : compareSpecs(one, other, isDynamic(one.name))
    return [...comparePlace(one, other, order), ...specs]
  })
  return [...gone, ...come.map((one) => describeCome(one, order)), ...kept]
}

const describeGone = ({ name: input, isRequired }: InputForm, order: WidgetOrder): Change => {
  const optional = order.removed.has(input) ? 'widget_removed' : 'optional_input_removed'
  return makeChange(isRequired ? 'input_removed' : optional, { input })
}

const describeCome = (
  { name: input, isRequired, hasWidget }: InputForm,
  order: WidgetOrder,
): Change => {
  if (order.inserted.has(input)) return makeChange('widget_inserted', { input })
  if (!isRequired) return makeChange('optional_input_added', { input })
  return makeChange(hasWidget ? 'widget_required' : 'socket_required', { input })
}

const comparePlace = (before: InputForm, after: InputForm, order: WidgetOrder): Change[] => {
  const { name: input } = before
  const changes: Change[] = []
  if (order.moved.has(input)) changes.push(makeChange('widget_moved', { input }))
  else if (order.inserted.has(input)) changes.push(makeChange('widget_inserted', { input }))
  // One that became a socket says so itself.
  else if (order.removed.has(input) && after.hasWidget)
    changes.push(makeChange('widget_removed', { input }))
  if (before.isRequired !== after.isRequired)
    changes.push(
      makeChange(after.isRequired ? 'input_now_required' : 'input_now_optional', { input }),
    )
  return changes
}
