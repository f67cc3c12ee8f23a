import { useQuery } from '@tanstack/react-query'

import { send } from '../api/client.ts'
import type { Version } from '../registry/queries.ts'
import type { Action } from '../ui/actions.tsx'
import { AskButton } from '../ui/ask.tsx'
import { findingsQuery } from '../ui/findings.tsx'
import { Bdi, Time } from '../ui/values.tsx'
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

/** The open review of a blocked version, and the decision that blocks it; members alone may read them. */
const useReviews = ({ node_id: nodeId, version, status }: Version) => {
  const isBlocked = status === 'NodeVersionStatusFlagged' || status === 'NodeVersionStatusBanned'
  const { data } = useQuery({ ...findingsQuery(nodeId, version), enabled: isBlocked })
  const [newest] = data?.reviews ?? []
  const last = data?.moves?.at(-1)
  return {
    open: newest?.closed_at === undefined ? newest : undefined,
    // An older decision is not why it is blocked now.
    rejectedAt:
      newest?.decision?.status === status && (newest.closed_at ?? '') >= (last?.at ?? '')
        ? newest.closed_at
        : undefined,
    bannedAt: last?.to === 'NodeVersionStatusBanned' ? last.at : undefined,
  }
}

/** The request for a review, for owners of a flagged version that has no open one. */
export const useReviewAction = (version: Version): Action | undefined => {
  const { id: versionId, node_id: nodeId, version: number, status } = version
  const publisherId = usePublisherOf(nodeId)
  const { isOwner } = useRights(nodeId, publisherId)
  const { open, rejectedAt } = useReviews(version)
  if (status !== 'NodeVersionStatusFlagged' || publisherId === undefined || !isOwner || open)
    return undefined
  const label = rejectedAt === undefined ? t('Request review') : t('Request another review')
  return {
    label,
    title: t('Request a review of {number}', { number }),
    action: label,
    ...(rejectedAt === undefined && { variant: 'primary' }),
    // Who asks again says what the decision has not seen.
    fields: [{ ...NOTE, isOptional: rejectedAt === undefined }],
    write: ({ note }) => {
      const path = { publisherId, nodeId, versionId }
      return send('POST', REVIEW, { path, body: note ? { note } : {} })
    },
  }
}

/** Why a flagged or banned version cannot be installed, who decided so, and what its members can do. */
export const Blocked = ({ version }: { version: Version }) => {
  const { rejectedAt, bannedAt } = useReviews(version)
  return (
    <>
      <p>{explainHold(version, bannedAt ?? rejectedAt)}</p>
      <Bdi>{version.status_reason}</Bdi>
      <NextStep version={version} />
    </>
  )
}

const explainHold = ({ status }: Version, decidedAt: string | undefined) => {
  const time = <Time at={decidedAt} />
  if (status === 'NodeVersionStatusFlagged')
    return decidedAt === undefined
      ? t('On hold: it can’t be installed until it has been reviewed.')
      : rich('On hold: a moderator reviewed it {time} and did not approve it.', { time })
  return decidedAt === undefined
    ? t('This version can’t be installed.')
    : rich('A moderator banned it {time}: it can’t be installed.', { time })
}

/** Ways of a member to go on from a blocked version, and the review that was asked for. Nothing for others. */
const NextStep = ({ version }: { version: Version }) => {
  const { open, rejectedAt } = useReviews(version)
  const action = useReviewAction(version)
  const { isMember } = useRights(version.node_id, usePublisherOf(version.node_id))
  if (!isMember) return null
  if (open)
    return (
      <p>
        {rich('Review requested {time}. A moderator will decide.', {
          time: <Time at={open.createdAt} />,
        })}
      </p>
    )
  return (
    <>
      <p>{advise(version, { mayAsk: action !== undefined, isAgain: rejectedAt !== undefined })}</p>
      {action && <AskButton {...action} />}
    </>
  )
}

const advise = (
  { status }: Version,
  { mayAsk, isAgain }: { mayAsk: boolean; isAgain: boolean },
) => {
  if (status === 'NodeVersionStatusBanned') return t('Fix it and publish a new version.')
  if (!mayAsk)
    return t('Fix it and publish a new version. An owner of the publisher can request a review.')
  return isAgain
    ? t('Fix it and publish a new version. You can request another review with a note.')
    : t('Fix it and publish a new version, or request a review if this is a false positive.')
}
