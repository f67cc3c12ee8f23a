import { Type, type Static } from 'typebox'

import { count, instant, text } from '../../platform/domain/schema-fields.ts'
import { isReservedUser } from '../../platform/domain/account.ts'
import { shown } from '../../platform/domain/errors.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'
import { ENGINE_NAMES } from './engine.ts'

const whole = (description: string, maximum: number) =>
  Type.Optional(Type.Integer({ minimum: 0, maximum, description }))

const MAX = 1_000_000_000

const members = {
  slots: whole('Videos that render at once, in place of VIDEO_CONCURRENCY_PER_OWNER.', 10_000),
  credit_limit: whole('Charges minus refunds, in place of OWNER_CREDIT_LIMIT.', MAX),
  task_limit: whole('Open tasks, in place of OWNER_TASK_LIMIT.', MAX),
  byte_limit: whole('Bytes kept, in place of OWNER_BYTE_LIMIT.', Number.MAX_SAFE_INTEGER),
  rate_factor: Type.Optional(
    Type.Number({
      minimum: 0.001,
      maximum: 1000,
      description:
        'Factor of the numbers of creations and changes, beside RATE_LIMITS; reads count by address. Each process counts by itself.',
    }),
  ),
  engine: Type.Optional(
    Type.Enum([...ENGINE_NAMES], {
      description: 'Who renders the tasks that are made from now on, but for kinds of templates.',
    }),
  ),
  note: Type.Optional(text(2000, 'For those who run the service.')),
}

/** Body of PUT /admin/owners/{owner}. */
export const NewOwnerLimits = Type.Object(members)
export type NewOwnerLimits = Static<typeof NewOwnerLimits>

export const warnings = Type.Optional(
  Type.Array(Type.String(), {
    description: 'When it is set: that nobody with the id has called this service yet.',
  }),
)

export const OwnerLimits = Type.Object({
  owner: Type.String({ description: 'Id of the owner.' }),
  ...members,
  set_by: Type.Optional(Type.String({ description: 'Id of the admin; absent: none are set.' })),
  set_at: Type.Optional(instant('When.')),
  used: Type.Object(
    {
      slots: count('Videos with a slot.'),
      credits: count('Charges minus refunds.'),
      tasks: count('Open tasks.'),
      bytes: count('Bytes kept.'),
    },
    { description: 'What it has of each.' },
  ),
  warnings,
})
export type OwnerLimits = Static<typeof OwnerLimits>

export const OwnerLimitsList = Type.Object({
  owners: Type.Array(OwnerLimits, { description: 'At most 1,000, by id.' }),
})

/** Validates the owner in a path: callers without a credential have no limits of their own. */
export const validateOwner = (owner: unknown): Issue[] => {
  const id = typeof owner === 'string' ? owner : ''
  return id.length <= 255 && !isReservedUser(id)
    ? []
    : [makeIssue('/owner', `must be the id of a user, got ${shown(id)}`)]
}
