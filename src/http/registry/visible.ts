import { withoutEmail } from '../../domain/registry/member.ts'
import type { Publisher } from '../../domain/registry/publisher.ts'

/** A publisher as a caller may see it: e-mail addresses are for its members. */
export const showPublisher = (publisher: Publisher, isMember: boolean): Publisher =>
  isMember ? publisher : { ...publisher, members: publisher.members.map(withoutEmail) }

/** The name of a user, or `user:<id>`, as those may see it who are no members: without an e-mail address. */
export const showUser = (text: string, isMember: boolean): string => {
  const { user } = withoutEmail({ id: '', role: 'member', user: { id: text, name: '' } })
  return isMember || user.id !== undefined ? text : 'user'
}
