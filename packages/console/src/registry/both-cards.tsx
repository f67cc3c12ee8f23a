import { useQuery } from '@tanstack/react-query'

import { HostNodeCard } from '../host-node/card.tsx'
import { marksOf, type HostNodeChanges } from './changes.ts'
import { hostNodeQuery, type Range } from './queries.ts'

interface BothCardsProps {
  /** Id of the pack. */
  node: string
  group: HostNodeChanges
  range: Range
}

/** The host node in both versions; one that is gone stands beside what it perhaps is now. */
export const BothCards = ({ node, group, range }: BothCardsProps) => {
  const { name, nameAfter, isGone, isNew, changes } = group
  const before = useQuery({ ...hostNodeQuery(node, range.from, name), enabled: !isNew })
  const after = useQuery({
    ...hostNodeQuery(node, range.to, nameAfter ?? name),
    enabled: !isGone || nameAfter !== undefined,
  })
  const marks =
    before.data && after.data && !isGone ? marksOf(changes, before.data, after.data) : undefined
  const sides = [
    [range.from, before.data, marks?.before],
    [range.to, after.data, marks?.after],
  ] as const
  return sides.map(
    ([version, card, own]) =>
      card && (
        <section key={version} aria-label={version}>
          <h3>{version}</h3>
          <HostNodeCard node={card} marks={own} />
        </section>
      ),
  )
}
