import { makeChange } from './change.ts'
import type { Change } from './change.ts'
import { compareTypes } from './host-node-form.ts'
import type { OutputForm } from './host-node-form.ts'

/** All changes of the outputs of one host node, whose links are kept by index. */
export const compareOutputs = (
  before: readonly OutputForm[],
  after: readonly OutputForm[],
): Change[] => [
  ...before.flatMap((one, output) => {
    const other = after[output]
    if (!other) return [makeChange('output_removed', { output, before: titleOf(one) })]
    const forms = { output, before: formOf(one), after: formOf(other) }
    return [
      ...comparePlace(before, after, output),
      ...(forms.before === forms.after ? [] : [makeChange('output_list_changed', forms)]),
    ]
  }),
  ...after
    .slice(before.length)
    .map((one, index) =>
      makeChange('output_added', { output: before.length + index, after: titleOf(one) }),
    ),
]

const titleOf = ({ name, types }: OutputForm): string => name ?? types.join()

const formOf = ({ isList }: OutputForm): string => (isList ? 'a list' : 'a single value')

const comparePlace = (
  before: readonly OutputForm[],
  after: readonly OutputForm[],
  output: number,
): Change[] => {
  const [one, other] = [before[output], after[output]]
  if (!one || !other) return []
  const types = compareTypes(one.types, other.types)
  const facts = { output, before: one.types.join(), after: other.types.join() }
  if (types !== 'same') return [makeChange(`output_type_${types}`, facts)]
  if (one.name === other.name || one.name === undefined || other.name === undefined) return []
  const names = { output, before: one.name, after: other.name }
  return [makeChange(isMoved(before, after, names) ? 'output_moved' : 'output_renamed', names)]
}

/** The name stands elsewhere now, or what stands here stood elsewhere: links of the same type carry something else. */
const isMoved = (
  outputs: readonly OutputForm[],
  others: readonly OutputForm[],
  { before, after }: { before: string; after: string },
): boolean =>
  others.some(({ name }) => name === before) || outputs.some(({ name }) => name === after)
