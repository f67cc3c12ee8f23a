import { useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'

import { send, sendFile } from '../api/client.ts'
import { banOf } from '../moderation/bans.tsx'
import { bannerOf, iconOf, type Node } from '../registry/queries.ts'
import { showToast } from '../shell/toasts.tsx'
import { Actions, type Action } from '../ui/actions.tsx'
import { changesIn } from '../ui/ask-field.tsx'
import { AskButton } from '../ui/ask.tsx'
import { LinkButton, publishPage } from '../ui/link.tsx'
import { Bdi } from '../ui/values.tsx'
import { t } from '../words/translate.ts'
import { nodeAdminFields, nodeFields } from './fields.ts'
import { ownTextsQuery, useRights } from './queries.ts'
import { giveAway, offerOf } from './transfer.tsx'

const NODE = '/publishers/{publisherId}/nodes/{nodeId}'
const ADMIN_NODE = '/admin/nodes/{nodeId}'

type Warned = { warnings?: string[] } | undefined

/** Says what was stored and will not work, such as a picture that cannot be shown. */
const showWarnings = (saved: Warned): void => {
  for (const warning of saved?.warnings ?? []) showToast(<Bdi>{warning}</Bdi>)
}

/** Controls of whoever may change a node: its members, owners and platform admins. Nothing for others. */
export const ManageNode = ({ node }: { node: Node }) => {
  const { id: nodeId, publisher } = node
  const navigate = useNavigate()
  const { mayEdit, isMember, isOwner, isAdmin } = useRights(nodeId, publisher.id)
  const path = { publisherId: publisher.id, nodeId }
  const isTranslated = node.translations !== undefined
  const own = useQuery({ ...ownTextsQuery(nodeId), enabled: mayEdit && isTranslated }).data
  const fields = nodeFields(own ?? node, {
    icon: {
      src: iconOf(node),
      send: async (file) => (await sendFile(`${NODE}/icon`, path, file)).icon,
    },
    banner: {
      src: bannerOf(node),
      send: async (file) => (await sendFile(`${NODE}/banner`, path, file)).banner_url,
    },
  })
  const adminFields = nodeAdminFields(node)
  const actions: (Action | false)[] = [
    isAdmin && {
      label: t('Admin settings'),
      title: t('Admin settings of {nodeId}', { nodeId }),
      action: t('Save'),
      fields: [
        ...adminFields,
        {
          name: 'force',
          label: t('Names that another pack has reserved'),
          options: { '': t('Reject'), true: t('Take over') },
          isOptional: true,
        },
      ],
      write: (values) => {
        const body = { ...changesIn(adminFields, values), ...(values['force'] && { force: true }) }
        return send('PUT', ADMIN_NODE, { path, body })
      },
    },
    isAdmin && node.status === 'NodeStatusActive' && banOf('node', nodeId),
    isAdmin && giveAway(nodeId),
    isOwner && offerOf(path),
    isOwner && {
      label: t('Delete pack'),
      title: t('Delete {nodeId}?', { nodeId }),
      variant: 'danger',
      typed: nodeId,
      write: () => send('DELETE', NODE, { path }),
      // Its page is gone.
      onDone: () =>
        void navigate({
          to: '/publishers/$publisher',
          params: { publisher: publisher.id },
          search: {},
        }),
      children: (
        <p>
          {t(
            'The pack can no longer be found or installed. Its ID stays taken and can’t be reused.',
          )}
        </p>
      ),
    },
  ]
  return (
    <>
      {mayEdit && (own ?? !isTranslated) && (
        <AskButton
          label={t('Edit')}
          title={t('Edit {nodeId}', { nodeId })}
          action={t('Save')}
          drawer
          fields={fields}
          write={(values) => send('PUT', NODE, { path, body: changesIn(fields, values) })}
          onDone={showWarnings}
        />
      )}
      {isMember && (
        <LinkButton {...publishPage(publisher.id)} search={{ node: nodeId }}>
          {t('Publish version')}
        </LinkButton>
      )}
      <Actions label={t('More for {nodeId}', { nodeId })} actions={actions} />
    </>
  )
}
