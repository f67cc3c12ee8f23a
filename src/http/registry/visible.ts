import { withoutEmail } from '../../domain/registry/member.ts'
import type { Publisher } from '../../domain/registry/publisher.ts'

/** A publisher as a caller may see it: e-mail addresses are for its members. */
export const showPublisher = (publisher: Publisher, isMember: boolean): Publisher =>
  isMember ? publisher : { ...publisher, members: publisher.members.map(withoutEmail) }

/** The id of a user, or `user:<id>`, as the caller may see it: an e-mail address is for members alone. */
export const showUser = (text: string, isMember: boolean): string => {
  const { user } = withoutEmail({ id: '', role: 'member', user: { id: text, name: '' } })
  return isMember || user.id !== undefined ? text : 'user'
}
