import { Type, type Static } from 'typebox'

import { showableUser } from './member.ts'
import {
  count,
  instant,
  page,
  pageSize,
  reason,
  text,
  uuid,
} from '../../platform/domain/schema-fields.ts'

/** Reviews of nodes: ratings in the code, because `review.ts` is the request that a person check a flagged version. */

const TEXT_MAX = 2_000

const stars = Type.Integer({ minimum: 1, maximum: 5, description: 'From 1 to 5.' })
const said = {
  text: Type.Optional(text(TEXT_MAX, 'What the user says of the pack.')),
  version: Type.Optional(text(256, 'The version that it is about; stays when that is deleted.')),
}

/** Body of PUT /nodes/{n}/reviews/mine. An absent member keeps its value, an empty text clears it. */
export const RatingUpdate = Type.Object({ stars, ...said })
export type RatingUpdate = Static<typeof RatingUpdate>

/** Query of POST /nodes/{n}/reviews. */
export const StarQuery = Type.Object({ star: stars })

export const Rating = Type.Object({
  id: uuid('Id of the review.'),
  node_id: Type.String({ description: 'Id of the pack.' }),
  author: Type.Object({
    id: Type.Optional(Type.String({ description: 'Absent when it holds an e-mail address.' })),
    name: Type.String({ description: 'Display name.' }),
    is_member: Type.Boolean({ description: 'A member of the publisher, who was none before.' }),
  }),
  stars,
  ...said,
  createdAt: instant('When it was written.'),
  edited_at: Type.Optional(instant('When it was changed last.')),
  status: Type.Enum(['visible', 'waiting', 'hidden'], {
    description:
      'Only a visible one counts, and is shown to others. That of a young account waits (REVIEW_MIN_AGE_HOURS).',
  }),
  hidden_reason: Type.Optional(
    Type.String({ description: 'Why it is hidden; for its author and platform admins.' }),
  ),
  reply: Type.Optional(
    Type.Object(
      { text: Type.String(), at: instant('When.') },
      { description: 'Reply of the publisher.' },
    ),
  ),
  is_mine: Type.Boolean({ description: 'Whether it is the caller’s.' }),
  reports: Type.Optional(
    Type.Array(Type.String(), { description: 'Reasons of open reports; for platform admins.' }),
  ),
})
export type Rating = Static<typeof Rating>

/** Query of GET /admin/reviews. */
export const ReportedRatingQuery = Type.Object({ page: page(), limit: pageSize(10, 100) })

/** Query of GET /nodes/{n}/reviews. */
export const RatingQuery = Type.Object({
  ...ReportedRatingQuery.properties,
  include_hidden: Type.Optional(
    Type.Boolean({
      description: 'Also those that are hidden or wait. Ignored of all but platform admins.',
    }),
  ),
})

/** Response of GET /nodes/{n}/reviews and GET /admin/reviews. */
export const RatingPage = Type.Object({
  reviews: Type.Array(Rating),
  page: count('The page asked for.'),
  limit: count('Reviews a page.'),
  total: count('Reviews found.'),
  totalPages: count('Pages that they fill.'),
  distribution: Type.Array(count('Reviews.'), {
    minItems: 5,
    maxItems: 5,
    description: 'Those of all pages that count, by their stars: with 1, 2, 3, 4 and 5.',
  }),
})

/** Body of POST /nodes/{n}/reviews/{reviewId}/report. */
export const RatingReport = Type.Object({ reason: reason('What is wrong with it.') })

/** Body of PUT /publishers/{p}/nodes/{n}/reviews/{reviewId}/reply. */
export const RatingReply = Type.Object({
  text: text(TEXT_MAX, 'What the publisher says; an empty text deletes the reply.'),
})

/** Body of PUT /admin/nodes/{n}/reviews/{reviewId}. */
export const RatingDecision = Type.Object({
  status: Type.Enum(['visible', 'hidden'], { description: 'Whether others see it.' }),
  reason: reason('Why. The author of a hidden one reads it.'),
})
export type RatingDecision = Static<typeof RatingDecision>

/** A review as others see it: without the e-mail address of its author. */
export const showRating = ({ author, ...rating }: Rating): Rating => ({
  ...rating,
  author: { ...showableUser(author), is_member: author.is_member },
})
