import { Type, type Static } from 'typebox'

import { uuid } from '../../platform/domain/schema-fields.ts'

/** Role of a user in a publisher; `role.ts` says what each may do. */
export const MemberRole = Type.Enum(['owner', 'admin', 'member'], {
  description: 'Role in the publisher.',
})
export type MemberRole = Static<typeof MemberRole>

/** A user as members of a publisher see it; others see it without e-mail addresses. */
const MemberUser = Type.Object({
  id: Type.Optional(
    Type.String({
      description:
        'Subject of the user’s tokens. When it holds an e-mail address only members of the publisher see it.',
    }),
  ),
  name: Type.String({ description: 'Display name.' }),
  email: Type.Optional(Type.String({ description: 'Seen only by members of the same publisher.' })),
})

/** PublisherMember of the interface. */
export const PublisherMember = Type.Object({
  id: uuid('Id of the membership.'),
  role: MemberRole,
  user: MemberUser,
})
export type PublisherMember = Static<typeof PublisherMember>

export const MemberList = Type.Array(PublisherMember)

/** Body of PUT /publishers/{p}/members/{userId}. */
export const MemberUpdate = Type.Object({ role: MemberRole })
export type MemberUpdate = Static<typeof MemberUpdate>

/** Response of GET /users: the caller. */
export const User = Type.Object({
  id: Type.String({ description: 'Subject of the caller’s tokens.' }),
  name: Type.String({ description: 'Display name.' }),
  email: Type.Optional(Type.String({ description: 'As the last token said.' })),
  isAdmin: Type.Boolean({ description: 'Whether the caller is a platform admin.' }),
})
export type User = Static<typeof User>

/** A member without e-mail addresses, as everybody may see it who is none of the same publisher. */
export const withoutEmail = (member: PublisherMember): PublisherMember => ({
  ...member,
  user: showableUser(member.user),
})

/** Id and name of a user as everybody may see them. */
export const showableUser = ({
  id,
  name,
}: {
  id?: string | undefined
  name: string
}): { id?: string; name: string } => ({
  ...(id === undefined || holdsEmail(id) ? {} : { id }),
  name: holdsEmail(name) ? '' : name,
})

/** Issuers put addresses into subjects, sometimes behind a prefix: `auth|ann@example.com`. */
const holdsEmail = (text: string): boolean => /[^\s@]@[^\s@]/.test(text)
