import type { MemberRole } from './member.ts'

/** Lowest role that each action in a publisher needs. */
const LOWEST_ROLE = {
  publish: 'member',
  create_node: 'member',
  edit_node: 'member',
  edit_version: 'member',
  reply_to_review: 'member',
  list_members: 'member',
  read_findings: 'member',
  read_endpoints: 'member',
  create_token: 'admin',
  list_tokens: 'admin',
  revoke_token: 'admin',
  trust_publisher: 'admin',
  edit_publisher: 'admin',
  manage_endpoints: 'admin',
  set_member: 'owner',
  remove_member: 'owner',
  delete_node: 'owner',
  transfer_node: 'owner',
  delete_version: 'owner',
  request_review: 'owner',
} as const satisfies Record<string, MemberRole>

export type PublisherAction = keyof typeof LOWEST_ROLE

const RANKS: Record<MemberRole, number> = { member: 1, admin: 2, owner: 3 }

/** True when a role is high enough; undefined, of a stranger, never is. */
export const mayDo = (role: MemberRole | undefined, action: PublisherAction): boolean =>
  role !== undefined && RANKS[role] >= RANKS[LOWEST_ROLE[action]]

/** The lowest role that may do something, for the message of a rejection. */
export const roleFor = (action: PublisherAction): MemberRole => LOWEST_ROLE[action]

/** True when a user may end a membership: owners may end anybody's, everybody may end their own. */
export const mayRemoveMember = (
  actor: { userId: string; role: MemberRole | undefined },
  userId: string,
): boolean =>
  actor.role !== undefined && (actor.userId === userId || mayDo(actor.role, 'remove_member'))

/**
 * True when a change would leave a publisher without an owner.
 * @param members as they are
 * @param change the role that a user is to have; undefined when the user is to be removed
 */
export const losesLastOwner = (
  members: readonly { userId: string; role: MemberRole }[],
  change: { userId: string; role: MemberRole | undefined },
): boolean => {
  const owners = members.filter(({ role }) => role === 'owner')
  return change.role !== 'owner' && owners.length === 1 && owners[0]?.userId === change.userId
}
