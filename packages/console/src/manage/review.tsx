import { useQuery } from '@tanstack/react-query'

import { send } from '../api/client.ts'
import type { Version } from '../registry/queries.ts'
import type { Action } from '../ui/actions.tsx'
import { AskButton } from '../ui/ask.tsx'
import { findingsQuery } from '../ui/findings.tsx'
import { Time } from '../ui/values.tsx'
import { rich, t } from '../words/translate.ts'
import { usePublisherOf, useRights } from './queries.ts'

const NOTE = {
  name: 'note',
  label: t('Note for the reviewer'),
  help: t('Explain why this code is needed and safe.'),
  isOptional: true,
  rows: 4,
}

const REVIEW = '/publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}/review'

const useOpenReview = ({ node_id: nodeId, version, status }: Version) => {
  const isFlagged = status === 'NodeVersionStatusFlagged'
  const { data } = useQuery({ ...findingsQuery(nodeId, version), enabled: isFlagged })
  return data?.reviews?.find(({ closed_at: closed }) => closed === undefined)
}

/** The request for a review, for owners of a flagged version that has no open one. */
export const useReviewAction = (version: Version): Action | undefined => {
  const { id: versionId, node_id: nodeId, version: number, status } = version
  const publisherId = usePublisherOf(nodeId)
  const { isOwner } = useRights(nodeId, publisherId)
  const open = useOpenReview(version)
  if (status !== 'NodeVersionStatusFlagged' || publisherId === undefined || !isOwner || open)
    return undefined
  return {
    label: t('Request review'),
    title: t('Request a review of {number}', { number }),
    action: t('Request review'),
    variant: 'primary',
    fields: [NOTE],
    write: ({ note }) => {
      const path = { publisherId, nodeId, versionId }
      return send('POST', REVIEW, { path, body: note ? { note } : {} })
    },
  }
}

/** Ways of a member to free a flagged version, and the review that was asked for. Nothing for others. */
export const ReviewRequest = ({ version }: { version: Version }) => {
  const open = useOpenReview(version)
  const action = useReviewAction(version)
  const { isMember } = useRights(version.node_id, usePublisherOf(version.node_id))
  if (version.status !== 'NodeVersionStatusFlagged' || !isMember) return null
  if (open)
    return (
      <p>
        {rich('Review requested {time}. A platform admin will decide.', {
          time: <Time at={open.createdAt} />,
        })}
      </p>
    )
  return (
    <>
      <p>
        {action
          ? t('Fix it and publish a new version, or request a review if this is a false positive.')
          : t('Fix it and publish a new version. An owner of the publisher can request a review.')}
      </p>
      {action && <AskButton {...action} />}
    </>
  )
}
