import { makeChange } from './change.ts'
import type { Change, Tell } from './change.ts'
import { readInputs, readOutputs } from './host-node-form.ts'
import type { HostNodeText } from './host-node-form.ts'
import { compareInputs } from './inputs.ts'
import { compareOutputs } from './outputs.ts'

/** All changes between two forms of a host node. */
export const compareHostNode = (before: HostNodeText, after: HostNodeText): Change[] => {
  const changes: Change[] = []
  const dynamic = new Set([...before.dynamic, ...after.dynamic])
  const tell: Tell = (code, facts, isDoubtful) => changes.push(makeChange(code, facts, isDoubtful))
  const tellOf = (member: string): Tell =>
    dynamic.has(member) ? (code, facts) => tell(code, facts, true) : tell
  compareTexts(tell, before, after)
  const inputs = [readInputs(before), readInputs(after)] as const
  if (inputs[0] && inputs[1])
    compareInputs(tellOf('input_types'), inputs[0], inputs[1], (name) =>
      dynamic.has(`input_types.${name}`),
    )
  else if (before.input_types !== after.input_types) tell('inputs_unreadable')
  const outputs = [readOutputs(before), readOutputs(after)] as const
  if (outputs[0] && outputs[1]) compareOutputs(tellOf('return_types'), outputs[0], outputs[1])
  else if (before.return_types !== after.return_types) tell('outputs_unreadable')
  return changes
}

const compareTexts = (tell: Tell, old: HostNodeText, now: HostNodeText): void => {
  if (old.deprecated !== now.deprecated)
    tell(now.deprecated ? 'host_node_deprecated' : 'host_node_undeprecated')
  if (now.banned && !old.banned) tell('host_node_banned')
  if (old.experimental !== now.experimental)
    tell('experimental_changed', { after: now.experimental ? 'experimental' : 'stable' })
  for (const member of ['category', 'display_name', 'description'] as const) {
    const [before, after] = [old[member] ?? '', now[member] ?? '']
    if (before !== after) tell(`${member}_changed`, { before, after })
  }
}
