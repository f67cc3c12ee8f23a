import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Fragment } from 'react'

import { keyOf, NUMBERED, read, readQuery, send, type Schema } from '../api/client.ts'
import { useMe } from '../api/queries.ts'
import { useRole } from '../publish/queries.ts'
import type { FieldSpec } from '../ui/ask-field.tsx'
import { AskButton } from '../ui/ask.tsx'
import { Empty, Note, Row, Show, Stack } from '../ui/panels.tsx'
import { NextPage, PreviousPage } from '../ui/rows.tsx'
import { Badge, Bdi, Progress, Time } from '../ui/values.tsx'
import { showOnePlace } from '../words/language.ts'
import { rich, t } from '../words/translate.ts'
import { LongText } from './parts.tsx'
import type { Node } from './queries.ts'
import styles from './reviews.module.css'

type Review = Schema<'NodeReview'>
type OfReview = { node: Node; review: Review }

const REVIEWS = '/nodes/{nodeId}/reviews'
const MINE = `${REVIEWS}/mine` as const
const REVIEW = `${REVIEWS}/{reviewId}` as const

/** Title of the tab: `★ 4.3 · 12 reviews`. */
export const titleOfReviews = ({ rating, rating_count: count }: Node): string =>
  count === 0
    ? t('Reviews')
    : `★ ${showOnePlace(rating)} · ${t('{count, plural, one {# review} other {# reviews}}', { count })}`

const draw = (stars: number): string => '★'.repeat(stars) + '☆'.repeat(5 - stars)

const Stars = ({ count }: { count: number }) => (
  <span className={styles.stars} role="img" aria-label={t('{count} of 5 stars', { count })}>
    {draw(Math.round(count))}
  </span>
)

/** Reviews of a pack: their mean and distribution, the caller's own, and all of them. */
export const Reviews = ({ node }: { node: Node }) => {
  const me = useMe()
  const path = { nodeId: node.id }
  const query = { limit: 10, ...(me?.isAdmin && { include_hidden: true }) }
  const found = useInfiniteQuery({
    queryKey: keyOf(REVIEWS, { path, query }),
    queryFn: ({ signal, pageParam: page }) =>
      read(REVIEWS, { path, query: { ...query, page } }, signal),
    ...NUMBERED,
    placeholderData: keepPreviousData,
  })
  return (
    <Show query={found}>
      {({ pages: [first, ...more] }) => (
        <Stack>
          {first && <Summary node={node} distribution={first.distribution} />}
          <Own node={node} />
          {first?.total === 0 && <Empty>{t('No reviews yet.')}</Empty>}
          <PreviousPage query={found} />
          <ul aria-label={t('Reviews')} className={styles.list}>
            {[first, ...more].flatMap((page) =>
              page?.reviews.map((review) => (
                <li key={review.id} className="stack">
                  <Entry node={node} review={review} />
                </li>
              )),
            )}
          </ul>
          <NextPage query={found} />
        </Stack>
      )}
    </Show>
  )
}

const Summary = ({ node, distribution }: { node: Node; distribution: readonly number[] }) => (
  <div className={`stack ${styles.summary}`}>
    <div>
      <p className={styles.mean}>{node.rating_count > 0 ? showOnePlace(node.rating) : '–'}</p>
      <Stars count={node.rating} />
      <p className="soft small">
        {t('{count, plural, one {# review} other {# reviews}}', { count: node.rating_count })}
      </p>
    </div>
    <div className={styles.counts}>
      {[5, 4, 3, 2, 1].map((stars) => {
        const count = distribution[stars - 1] ?? 0
        return (
          <Fragment key={stars}>
            <span className="small">
              {t('{count, plural, one {# star} other {# stars}}', { count: stars })}
            </span>
            <Progress
              part={count / Math.max(node.rating_count, 1)}
              label={t('Part with {count, plural, one {# star} other {# stars}}', { count: stars })}
            />
            <span className="small soft">{count}</span>
          </Fragment>
        )
      })}
    </div>
  </div>
)

const CHOICES = ['5', '4', '3', '2', '1'].map((stars) => [stars, draw(Number(stars))] as const)

/** Form of the caller's own review. Members of the publisher have none. */
const Own = ({ node }: { node: Node }) => {
  const me = useMe()
  const role = useRole(node.publisher.id)
  const path = { nodeId: node.id }
  const own = useQuery({ ...readQuery(MINE, { path }), enabled: me !== undefined && !role })
  if (!me) return <p className="soft">{t('Sign in to write a review.')}</p>
  if (role) return null
  const mine = own.isError ? undefined : own.data
  const { stars, text, status, hidden_reason: reason } = mine ?? {}
  const version = node.latest_version && { version: node.latest_version.version }
  return (
    <>
      {status === 'waiting' && (
        <Note>{t('Your account is new. Your review will be published later.')}</Note>
      )}
      {status === 'hidden' && (
        <Note tone="warn">
          <Bdi>{t('A platform admin has hidden your review: {reason}', { reason })}</Bdi>
        </Note>
      )}
      <Row>
        <AskButton
          label={mine ? t('Edit your review') : t('Write a review')}
          action={mine ? t('Save') : t('Publish')}
          fields={[
            { name: 'stars', label: t('Stars'), options: CHOICES, value: stars?.toString() },
            { name: 'text', label: t('Review'), rows: 4, value: text, isOptional: true },
          ]}
          write={(given) => {
            const body = { stars: Number(given['stars']), text: given['text'] ?? '', ...version }
            return send('PUT', MINE, { path, body })
          }}
        />
        {mine && (
          <AskButton
            label={t('Delete your review')}
            variant="danger"
            write={() => send('DELETE', MINE, { path })}
          />
        )}
      </Row>
    </>
  )
}

const Entry = ({ node, review }: OfReview) => {
  const { reply } = review
  return (
    <>
      <ReviewText review={review} />
      {reply && (
        <div className={`stack ${styles.reply}`}>
          <span className="soft small">
            {rich('{publisher} replied {time}', {
              publisher: <Bdi>{node.publisher.name}</Bdi>,
              time: <Time at={reply.at} />,
            })}
          </span>
          <LongText text={reply.text} />
        </div>
      )}
      <Actions node={node} review={review} />
    </>
  )
}

const STATUS_WORDS = { hidden: t('hidden'), waiting: t('waiting') }

/** A review with what only its author and platform admins read: why it is hidden, and what its reports say. */
export const ReviewText = ({ review }: { review: Review }) => {
  const { author, text, version, status, hidden_reason: reason, reports = [] } = review
  return (
    <>
      <Row>
        <Stars count={review.stars} />
        <Bdi as="strong">{author.name || t('A user')}</Bdi>
        {author.is_member && <Badge>{t('now a member of the publisher')}</Badge>}
        {status !== 'visible' && <Badge tone="warn">{STATUS_WORDS[status]}</Badge>}
        <span className="soft small">
          <Time at={review.createdAt} />
          {review.edited_at && ` · ${t('edited')}`}
          {version && ` · ${t('version {version}', { version })}`}
        </span>
      </Row>
      {text && <LongText text={text} />}
      {reason && <Note tone="warn">{t('Hidden: {reason}', { reason })}</Note>}
      {reports.length > 0 && (
        <Note tone="warn">
          <Bdi>{t('Reported: {reports}', { reports: reports.join(' · ') })}</Bdi>
        </Note>
      )}
    </>
  )
}

const WHY: FieldSpec = { name: 'reason', label: t('Reason'), rows: 3 }

/** Buttons for what the caller may do about a review. */
const Actions = ({ node, review }: OfReview) => {
  const { id: reviewId, is_mine: isMine, reply, status } = review
  const me = useMe()
  const role = useRole(node.publisher.id)
  const path = { nodeId: node.id, reviewId }
  const isVisible = status === 'visible'
  const isReader = me && !isMine && !role && isVisible
  return (
    <Row>
      {isReader && (
        <AskButton
          label={t('Report')}
          title={t('Report this review')}
          fields={[WHY]}
          write={({ reason = '' }) => send('POST', `${REVIEW}/report`, { path, body: { reason } })}
        />
      )}
      {role && isVisible && (
        <AskButton
          label={reply ? t('Edit reply') : t('Reply')}
          fields={[
            { name: 'text', label: t('Reply'), rows: 4, value: reply?.text, isOptional: true },
          ]}
          write={({ text = '' }) =>
            send('PUT', `/publishers/{publisherId}${REVIEW}/reply`, {
              path: { ...path, publisherId: node.publisher.id },
              body: { text },
            })
          }
        />
      )}
      {me?.isAdmin && <Decisions review={review} />}
    </Row>
  )
}

/** Buttons for what a platform admin decides on a review. */
export const Decisions = ({ review }: { review: Review }) => {
  const { id: reviewId, node_id: nodeId, status, reports } = review
  const decide = (label: string, to: 'visible' | 'hidden') => (
    <AskButton
      label={label}
      fields={[WHY]}
      write={({ reason = '' }) =>
        send('PUT', `/admin${REVIEW}`, {
          path: { nodeId, reviewId },
          body: { status: to, reason },
        })
      }
    />
  )
  return (
    <>
      {status === 'hidden' ? decide(t('Show'), 'visible') : decide(t('Hide'), 'hidden')}
      {status === 'visible' && reports && decide(t('Dismiss reports'), 'visible')}
    </>
  )
}
