import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'

import { readQuery, send, type Schema } from '../api/client.ts'
import type { Version } from '../registry/queries.ts'
import { Actions, type Action } from '../ui/actions.tsx'
import { changesIn, filledWith, type FieldSpec } from '../ui/ask-field.tsx'
import { nodePage } from '../ui/link.tsx'
import { t } from '../words/translate.ts'
import { versionAdminFields } from './fields.ts'
import { POLICIES } from './host-node.tsx'
import { usePublisherOf, useRights } from './queries.ts'
import { useReviewAction } from './review.tsx'

const VERSION = '/publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}'
const ADMIN_VERSION = '/admin/nodes/{nodeId}/versions/{version}'
const CHANGELOG = [{ name: 'changelog', label: t('Changelog'), rows: 10, isOptional: true }]

type Policy = Schema<'HostNodePolicy'>

type Props = {
  version: Version
  /** Offers the policies of its nodes, which are read for that. */
  policies?: boolean
}

/** Menu of a version: that of members, owners and platform admins. Nothing for others. */
export const ManageVersion = ({ version, policies: hasPolicies = false }: Props) => {
  const { id: versionId, node_id: nodeId, version: number, deprecated } = version
  const publisherId = usePublisherOf(nodeId)
  const navigate = useNavigate()
  const { mayEdit, isOwner, isAdmin } = useRights(nodeId, publisherId)
  const review = useReviewAction(version)
  const policies = usePolicyFields(version, hasPolicies && isAdmin)
  if (publisherId === undefined) return null
  const path = { publisherId, nodeId, versionId }
  const adminPath = { nodeId, version: number }
  const named = `${nodeId} ${number}`
  const changelog = filledWith(version, CHANGELOG)
  const adminFields = versionAdminFields(version)
  const actions: (Action | false | undefined)[] = [
    review,
    mayEdit && {
      label: t('Edit changelog'),
      title: t('Changelog of {named}', { named }),
      action: t('Save'),
      fields: changelog,
      write: (values) => send('PUT', VERSION, { path, body: changesIn(changelog, values) }),
    },
    mayEdit && {
      label: deprecated ? t('Undo deprecation') : t('Deprecate'),
      title: deprecated
        ? t('Undo the deprecation of {named}?', { named })
        : t('Deprecate {named}?', { named }),
      write: () => send('PUT', VERSION, { path, body: { deprecated: !deprecated } }),
      children: (
        <p>
          {deprecated
            ? t('The version counts for Latest again.')
            : t(
                'The version stays installable, is marked as deprecated, and is Latest only if all others are deprecated. The changelog is the place to say why.',
              )}
        </p>
      ),
    },
    isAdmin && {
      label: t('Admin settings'),
      title: t('Admin settings of {named}', { named }),
      action: t('Save'),
      fields: adminFields,
      write: (values) =>
        send('PUT', ADMIN_VERSION, { path: adminPath, body: changesIn(adminFields, values) }),
    },
    policies && {
      label: t('Node policies'),
      title: t('Node policies of {nodeId}', { nodeId }),
      action: t('Save'),
      fields: [...policies, REASON],
      write: ({ status_reason: reason, ...values }) => {
        const changed = policies
          .filter(({ name, value }) => values[name] !== value)
          .map(({ name }) => [name.slice(POLICY.length), values[name] as Policy] as const)
        const host_node_policies = Object.fromEntries(changed)
        const body = { host_node_policies, ...(reason && { status_reason: reason }) }
        return send('PUT', ADMIN_VERSION, { path: adminPath, body })
      },
      children: <p>{t('A policy holds in all versions of the pack.')}</p>,
    },
    isOwner && {
      label: t('Delete version'),
      title: t('Delete {named}?', { named }),
      variant: 'danger',
      typed: number,
      write: () => send('DELETE', VERSION, { path }),
      onDone: () => void navigate({ ...nodePage(nodeId), search: {} }),
      children: (
        <p>{t('The version can no longer be found or installed. This can’t be undone.')}</p>
      ),
    },
  ]
  return <Actions label={t('More for {named}', { named })} actions={actions} />
}

const REASON = {
  name: 'status_reason',
  label: t('Reason'),
  help: t('Required for a ban, and visible to everyone.'),
  rows: 2,
  isOptional: true,
}

const POLICY = 'host_node_policies/'
const HOST_NODES = '/nodes/{nodeId}/versions/{version}/host-nodes'

/** A choice for each of the first fifty nodes; the page of a node has its own. */
const usePolicyFields = (version: Version, isAsked: boolean): FieldSpec[] | undefined => {
  const path = { nodeId: version.node_id, version: version.version }
  const isRead = isAsked && (version.host_nodes?.count ?? 0) > 0
  const { data } = useQuery({
    ...readQuery(HOST_NODES, { path, query: { limit: 50 } }),
    enabled: isRead,
  })
  return data?.host_nodes.map(({ host_node_name: name, policy }) => ({
    name: POLICY + name,
    label: name,
    options: POLICIES,
    value: policy,
  }))
}
