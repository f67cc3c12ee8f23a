import { Type, type Static } from 'typebox'

import { REASON_MAX, instant, text, uuid } from '../../platform/domain/schema-fields.ts'
import { VersionStatus } from './version.ts'

const NOTE_MAX = 1_000

/** Body of POST /publishers/{p}/nodes/{n}/versions/{versionId}/review. */
export const NewReview = Type.Object({
  note: Type.Optional(text(NOTE_MAX, 'What the admin who looks at it should know.')),
})
export type NewReview = Static<typeof NewReview>

/** A request that a person look at a flagged version. */
export const Review = Type.Object({
  id: uuid('Id of the request.'),
  version_id: uuid('Id of the version.'),
  note: Type.Optional(text(NOTE_MAX, 'What its author says.')),
  createdAt: instant('When it was made.'),
})
export type Review = Static<typeof Review>

/** The same in the findings of a version. */
export const ListedReview = Type.Intersect([
  Review,
  Type.Object({
    by: Type.String({ description: 'Id of the user who made it.' }),
    closed_at: Type.Optional(instant('When a decision closed it; absent while it is open.')),
    decision: Type.Optional(
      Type.Object(
        {
          status: VersionStatus,
          reason: text(REASON_MAX, 'Why.'),
        },
        { description: 'The status that the version had, or kept, with it, and why.' },
      ),
    ),
  }),
])
export type ListedReview = Static<typeof ListedReview>
