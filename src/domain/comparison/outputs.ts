import type { Report } from './change.ts'
import { compareTypes, type OutputForm } from './host-node-form.ts'

/** Compares the outputs of a host node, whose links are kept by index. */
export const compareOutputs = (
  report: Report,
  before: readonly OutputForm[],
  after: readonly OutputForm[],
): void => {
  const [names, namesNow] = [namesOf(before), namesOf(after)]
  for (const [output, one] of before.entries()) {
    const other = after[output]
    if (!other) {
      report('output_removed', { output, before: one.name ?? one.types.join() })
      continue
    }
    const types = compareTypes(one.types, other.types)
    if (types !== 'same')
      report(`output_type_${types}`, {
        output,
        name: one.name,
        before: one.types.join(),
        after: other.types.join(),
      })
    else if (one.name !== other.name && one.name !== undefined && other.name !== undefined) {
      // Links of the same type carry something else when names change places.
      const isTransitioned = namesNow.has(one.name) || names.has(other.name)
      const facts = { output, before: one.name, after: other.name }
      report(isTransitioned ? 'output_moved' : 'output_renamed', facts)
    }
    if (one.isList !== other.isList)
      report('output_list_changed', {
        output,
        name: one.name,
        before: formOf(one),
        after: formOf(other),
      })
  }
  for (const [output, { name, types }] of after.entries())
    if (output >= before.length) report('output_added', { output, after: name ?? types.join() })
}

const namesOf = (outputs: readonly OutputForm[]) => new Set(outputs.map(({ name }) => name))

const formOf = ({ isList }: OutputForm): string => (isList ? 'a list' : 'a single value')
