import { doubt, makeChange } from './change.ts'
import type { Change } from './change.ts'
import { readInputs, readOutputs } from './host-node-form.ts'
import type { HostNodeText } from './host-node-form.ts'
import { compareInputs } from './inputs.ts'
import { compareOutputs } from './outputs.ts'

/** All changes between two forms of a host node, in no order. */
export const compareHostNode = (before: HostNodeText, after: HostNodeText): Change[] => [
  ...compareFlags(before, after),
  ...compareTexts(before, after),
  ...doubtUnless(isKnown(['input_types'], before, after), changesOfInputs(before, after)),
  ...doubtUnless(
    isKnown(['return_types', 'output_is_list'], before, after),
    changesOfOutputs(before, after),
  ),
]

const isKnown = (members: readonly string[], ...forms: readonly HostNodeText[]): boolean =>
  forms.every(({ dynamic }) => !members.some((member) => dynamic.includes(member)))

const doubtUnless = (isKnown: boolean, changes: Change[]): Change[] =>
  isKnown ? changes : changes.map(doubt)

const changesOfInputs = (old: HostNodeText, now: HostNodeText): Change[] => {
  if (old.input_types === now.input_types) return []
  const [before, after] = [readInputs(old.input_types), readInputs(now.input_types)]
  if (!before || !after) return [makeChange('inputs_unreadable')]
  return compareInputs(before, after, (name) => !isKnown([`input_types.${name}`], old, now))
}

const changesOfOutputs = (old: HostNodeText, now: HostNodeText): Change[] => {
  const [before, after] = [readOutputs(old), readOutputs(now)]
  if (before && after) return compareOutputs(before, after)
  return old.return_types === now.return_types ? [] : [makeChange('outputs_unreadable')]
}

const compareFlags = (before: HostNodeText, after: HostNodeText): Change[] => {
  const changes: Change[] = []
  if (before.deprecated !== after.deprecated)
    changes.push(makeChange(after.deprecated ? 'host_node_deprecated' : 'host_node_undeprecated'))
  if (after.banned && !before.banned) changes.push(makeChange('host_node_banned'))
  if (before.experimental !== after.experimental)
    changes.push(
      makeChange('experimental_changed', { after: after.experimental ? 'experimental' : 'stable' }),
    )
  return changes
}

const compareTexts = (old: HostNodeText, now: HostNodeText): Change[] =>
  (['category', 'display_name', 'description'] as const).flatMap((member) => {
    const [before, after] = [old[member] ?? '', now[member] ?? '']
    return before === after ? [] : [makeChange(`${member}_changed`, { before, after })]
  })
