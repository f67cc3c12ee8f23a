import type { HostNodePolicy } from '../host-node.ts'
import { makeChange, type Change, type ChangeCode, type Report } from './change.ts'
import { readInputs, readOutputs, compareTypes } from './host-node-form.ts'
import type { HostNodeText, OutputForm } from './host-node-form.ts'
import { compareInputs } from './inputs.ts'

/** All changes between two forms of a host node. */
export const compareHostNode = (before: HostNodeText, after: HostNodeText): Change[] => {
  const changes: Change[] = []
  const dynamic = new Set([...before.dynamic, ...after.dynamic])
  const report: Report = (code, facts, isDoubtful) =>
    changes.push(makeChange(code, facts, isDoubtful))
  const enqueueFor = (member: string): Report =>
    dynamic.has(member) ? (code, facts) => report(code, facts, true) : report
  compareTexts(report, before, after)
  const inputs = [readInputs(before), readInputs(after)] as const
  if (inputs[0] && inputs[1])
    compareInputs(enqueueFor('input_types'), inputs[0], inputs[1], (name) =>
      dynamic.has(`input_types.${name}`),
    )
  else if (before.input_types !== after.input_types) report('inputs_unreadable')
  const outputs = [readOutputs(before), readOutputs(after)] as const
  if (outputs[0] && outputs[1]) compareOutputs(enqueueFor('return_types'), outputs[0], outputs[1])
  else if (before.return_types !== after.return_types) report('outputs_unreadable')
  return changes
}

const compareTexts = (report: Report, old: HostNodeText, now: HostNodeText): void => {
  if (old.deprecated !== now.deprecated)
    report(now.deprecated ? 'host_node_deprecated' : 'host_node_undeprecated')
  if (now.policy !== old.policy) report(POLICY_CODES[now.policy])
  if (old.experimental !== now.experimental)
    report('experimental_changed', { after: now.experimental ? 'experimental' : 'stable' })
  if (old.output_node !== now.output_node && old.output_node !== null && now.output_node !== null)
    report(now.output_node ? 'host_node_became_output' : 'host_node_no_output')
  for (const member of ['category', 'display_name', 'description'] as const) {
    const [before, after] = [old[member] ?? '', now[member] ?? '']
    if (before !== after) report(`${member}_changed`, { before, after })
  }
}

const POLICY_CODES = {
  HostNodePolicyActive: 'host_node_allowed',
  HostNodePolicyBanned: 'host_node_banned',
  HostNodePolicyLocalOnly: 'host_node_local_only',
} as const satisfies Record<HostNodePolicy, ChangeCode>

/** Compares the outputs of a host node, whose links are kept by index. */
const compareOutputs = (
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
