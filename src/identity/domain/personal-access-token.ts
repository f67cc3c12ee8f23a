import { Type, type Static } from 'typebox'

import {
  DESCRIPTION_MAX,
  NAME_MAX,
  instant,
  text,
  uuid,
} from '../../platform/domain/schema-fields.ts'

export const TokenScope = Type.Enum(['publish', 'read'], {
  description: '`read` reads the findings of versions as a member does; `publish` publishes, too.',
})
export type TokenScope = Static<typeof TokenScope>

const node_id = Type.Optional(
  Type.String({ description: 'The one pack that it is for; absent: all of the publisher.' }),
)
const description = Type.Optional(text(DESCRIPTION_MAX, 'What it is to be used for, at length.'))

/** Body of POST /publishers/{p}/tokens. */
export const NewPersonalAccessToken = Type.Object({
  name: Type.String({ minLength: 1, maxLength: NAME_MAX, description: 'What the token is for.' }),
  description,
  expires_at: Type.Optional(instant('A time in the future at which it ends; absent: never.')),
  scope: Type.Optional(TokenScope),
  node_id,
})
export type NewPersonalAccessToken = Static<typeof NewPersonalAccessToken>

/** The one response that holds the value of a token. */
export const CreatedPersonalAccessToken = Type.Object({
  token: Type.String({ description: 'The secret, shown this once.' }),
})
export type CreatedPersonalAccessToken = Static<typeof CreatedPersonalAccessToken>

export const PersonalAccessToken = Type.Object({
  id: uuid('Id of the token.'),
  name: text(NAME_MAX, 'What the token is for.'),
  description,
  token: Type.String({ description: 'Masked: the prefix and the last four characters.' }),
  scope: TokenScope,
  node_id,
  createdAt: instant('When it was created.'),
  created_by: Type.String({ description: 'Id of the user who created it.' }),
  expires_at: Type.Optional(instant('When it ends; absent for one that does not.')),
  last_used_at: Type.Optional(instant('Last use, exact to the hour; absent before the first.')),
})
export type PersonalAccessToken = Static<typeof PersonalAccessToken>

export const PersonalAccessTokenList = Type.Array(PersonalAccessToken)
