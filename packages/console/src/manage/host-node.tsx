import { useQuery } from '@tanstack/react-query'

import { readQuery, send, type Schema } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { AskButton } from '../ui/ask.tsx'
import { Link, nodePage } from '../ui/link.tsx'
import { Row } from '../ui/panels.tsx'
import { rich, t } from '../words/translate.ts'

export const POLICIES: Record<Schema<'HostNodePolicy'>, string> = {
  HostNodePolicyActive: t('Allowed'),
  HostNodePolicyLocalOnly: t('Local only'),
  HostNodePolicyBanned: t('Banned'),
}

type Props = { nodeId: string; hostNode: Schema<'HostNode'> }

/** Pack that a node's name leads to, the others that have it, and its policy for platform admins. */
export const ManageHostNode = ({ nodeId, hostNode }: Props) => {
  const { host_node_name: hostNodeName, policy, policy_reason: reason } = hostNode
  const path = { nodeId, hostNodeName }
  const isAdmin = useMe()?.isAdmin === true
  return (
    <Row>
      <Owner nodeId={nodeId} hostNodeName={hostNodeName} />
      {isAdmin && (
        <AskButton
          label={t('Set policy')}
          title={t('Policy of {hostNodeName} in {nodeId}', { hostNodeName, nodeId })}
          action={t('Save')}
          fields={[
            { name: 'policy', label: t('Policy'), options: POLICIES, value: policy },
            {
              name: 'reason',
              label: t('Reason'),
              help: t('Required for a ban, and visible to everyone.'),
              rows: 2,
              value: reason,
              isOptional: true,
            },
          ]}
          write={({ policy: next, reason: why }) => {
            const body = { policy: next as Schema<'HostNodePolicy'>, ...(why && { reason: why }) }
            return send('PUT', '/admin/nodes/{nodeId}/host-nodes/{hostNodeName}', { path, body })
          }}
        >
          <p>{t('The policy holds in all versions of the pack.')}</p>
        </AskButton>
      )}
    </Row>
  )
}

const Owner = ({ nodeId, hostNodeName }: { nodeId: string; hostNodeName: string }) => {
  const query = readQuery('/host-nodes/{hostNodeName}/node', { path: { hostNodeName } })
  const { data } = useQuery({ ...query, retry: false })
  if (!data) return null
  const others = data.other_node_ids.filter((id) => id !== nodeId)
  return (
    <span>
      {data.id === nodeId
        ? t('Saved workflows that name this node get it from this pack')
        : rich('Saved workflows that name this node get it from {pack}', {
            pack: <Link {...nodePage(data.id)}>{data.name}</Link>,
          })}
      {others.length > 0 && `. ${t('Also in:')} `}
      {others.slice(0, 5).map((id) => (
        <span key={id}>
          <Link {...nodePage(id)}>{id}</Link>{' '}
        </span>
      ))}
    </span>
  )
}
