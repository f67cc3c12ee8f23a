import { Type, type Static } from 'typebox'

import { readEmail } from './email.ts'
import { shown } from '../../platform/domain/errors.ts'
import { makeIssue, type Issue } from '../../platform/domain/validate.ts'

const EXPECTATION = 'an email address'

/** Body of POST /admin/invitations. */
export const NewInvitation = Type.Object({
  email: Type.String({
    maxLength: 320,
    'x-expectation': EXPECTATION,
    description: 'Address by which the account signs in; upper and lower case are one.',
  }),
  is_admin: Type.Optional(
    Type.Boolean({ description: 'Whether it is that of a platform admin; false unless given.' }),
  ),
})
export type NewInvitation = Static<typeof NewInvitation>

/** An account that nobody has signed in to yet. */
export const Invitation = Type.Object({
  id: Type.String({ description: 'Id of the user.' }),
  email: Type.String({ description: 'As accounts have it, in lower case.' }),
  is_admin: Type.Boolean({ description: 'Whether it is that of a platform admin.' }),
  link: Type.String({
    format: 'uri',
    description: 'Page that sets the password, once, shown here alone.',
  }),
  expires_at: Type.String({ format: 'date-time', description: 'When the link ends.' }),
})
export type Invitation = Static<typeof Invitation>

/** Rejects an address that is none. */
export const validateInvitation = ({ email }: Readonly<Record<string, unknown>>): Issue[] =>
  typeof email !== 'string' || readEmail(email) !== undefined
    ? []
    : [makeIssue('/email', `must be ${EXPECTATION}, got ${shown(email)}`)]
