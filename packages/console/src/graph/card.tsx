import { useQuery } from '@tanstack/react-query'

import { HostNodeCard } from '../host-node/card.tsx'
import { BothCards } from '../registry/both-cards.tsx'
import { groupChanges } from '../registry/changes.ts'
import { LEVEL_WORDS } from '../registry/parts.tsx'
import { hostNodeQuery } from '../registry/queries.ts'
import { Dialog } from '../ui/layers.tsx'
import { Link, nodePage } from '../ui/link.tsx'
import { Facts } from '../ui/panels.tsx'
import { Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { keyOf, type DrawnNode } from './read-workflow.ts'
import type { Change, Check, Resolution } from './types.ts'
import styles from './graph.module.css'

interface NodeCardProps {
  node: DrawnNode
  resolution: Resolution | undefined
  check: Check | undefined
  onClose(): void
}

/** One node of the workflow: its class and pack, and both sides of what an update changes of it. */
export const NodeCard = ({ node, resolution, check, onClose }: NodeCardProps) => {
  const known = resolution?.host_nodes.find(({ host_node: name }) => name === node.type)
  const changes = (check?.changes ?? []).filter((one) => keyOf(one.node) === node.key)
  const pack = known?.node_id ?? changes[0]?.pack
  const isSame = (id: string): boolean => id.toLowerCase() === pack?.toLowerCase()
  const { from, to } = check?.packs.find(({ node_id: id }) => isSame(id)) ?? {}
  const version = to ?? resolution?.packs.find(({ node_id: id }) => isSame(id))?.version
  const [group] = groupChanges(changes, { level: undefined, search: undefined })
  return (
    <Dialog title={<Bdi>{node.title}</Bdi>} onClose={onClose} drawer wide>
      <Facts
        of={{
          [t('Class')]: <Bdi as="code">{node.inner === undefined ? node.type : t('subgraph')}</Bdi>,
          [t('Node')]: <Bdi>{node.id}</Bdi>,
          [t('Pack')]: pack !== undefined && <Link {...nodePage(pack)}>{pack}</Link>,
          [t('Saved with')]: node.version && <Bdi>{`${node.pack ?? ''} ${node.version}`}</Bdi>,
          [t('Update')]: from !== undefined && to !== undefined && <Bdi>{`${from} → ${to}`}</Bdi>,
          [t('Reason')]: known && <Bdi>{known.message}</Bdi>,
        }}
      />
      {changes.length > 0 ? (
        <ChangeList changes={changes} />
      ) : (
        pack !== undefined && <p>{t('No update changes anything of this node.')}</p>
      )}
      <div className={`stack ${styles.both}`}>
        {pack !== undefined && group && from !== undefined && to !== undefined ? (
          <BothCards node={pack} group={group} range={{ from, to }} />
        ) : (
          pack !== undefined &&
          version !== undefined && <OneCard pack={pack} version={version} name={node.type} />
        )}
      </div>
    </Dialog>
  )
}

const ChangeList = ({ changes }: { changes: readonly Change[] }) => (
  <ul aria-label={t('Changes of the node')} className={`stack tight ${styles.changes}`}>
    {changes.map(({ level, message, before, after }, index) => (
      <li key={index} className={LEVEL_WORDS[level].tone}>
        <Bdi>{message}</Bdi>
        {(before !== undefined || after !== undefined) && (
          <p className="soft small">
            <Bdi>{`${before ?? t('nothing')} → ${after ?? t('nothing')}`}</Bdi>
          </p>
        )}
      </li>
    ))}
  </ul>
)

const OneCard = (of: { pack: string; version: string; name: string }) => {
  const { data } = useQuery(hostNodeQuery(of.pack, of.version, of.name))
  return data && <HostNodeCard node={data} />
}
