import {
  disableAccount,
  inviteAccount,
  resetAccount,
  setAdmin,
  type Link,
} from '../identity/adapters/accounts.ts'
import { cancelOnOthers } from '../tasks/db/bulk/bulk.ts'
import type { Sql, Transaction } from '../platform/db/client.ts'
import { insertAudit, type Audit } from '../platform/db/audit-log.ts'
import { findUser } from '../identity/db/app-user.ts'
import {
  findAccountByEmail,
  linkSubject,
  listAccounts,
  ownsAnything,
  type ListedAccount,
} from '../identity/db/account.ts'
import { unitOfWork } from '../platform/db/unit-of-work.ts'
import { auditTarget } from '../platform/domain/audit-log.ts'
import { OperatorError } from '../platform/process/operator-error.ts'
import { counted } from '../platform/domain/counted.ts'

export const USER_VERBS = ['add', 'list', 'promote', 'demote', 'disable', 'reset', 'link'] as const

export interface UserCommand {
  verb: (typeof USER_VERBS)[number]
  /** Empty for `list`. */
  email: string
  isAdmin: boolean
  /** Subject at the external issuer, for `link`. */
  subject: string
  /** True where `reset` ends its API keys and tokens, too. */
  endsKeys: boolean
}

export interface UserDeps {
  sql: Sql
  audit: Audit
  publicUrl: string
  /** False where AUTH is not builtin: no account signs in there. */
  isBuiltin: boolean
}

/** Makes the commands for accounts of AUTH=builtin. */
export const makeUserCommand =
  ({ sql, audit, publicUrl, isBuiltin }: UserDeps) =>
  async ({ verb, email: given, isAdmin, subject, endsKeys }: UserCommand): Promise<string> => {
    if (!isBuiltin && (verb === 'add' || verb === 'reset'))
      throw new OperatorError(
        'the accounts are those of AUTH_ISSUER: set AUTH=builtin for own ones',
      )
    if (verb === 'list') return (await listAccounts(sql)).map(describe).join('\n')
    return await unitOfWork({ sql }, async (sql) => {
      if (verb === 'add') {
        const invited = await inviteAccount(sql, audit, { email: given, isAdmin, publicUrl })
        if (invited) return describeLink(invited, given)
        throw new OperatorError(
          `${given}, or what looks the same, has an account: \`kiln operate user reset ${given}\` makes a new link`,
        )
      }
      const account = await findAccountByEmail(sql, given)
      if (!account) throw new OperatorError(`${given} has no account: \`kiln operate user list\``)
      const { id, email } = account
      if (verb === 'reset') {
        const reset = await resetAccount(sql, audit, { id, publicUrl, endsKeys })
        return `${describeLink(reset, email)}\n${reset.keys}`
      }
      if (verb === 'link') return await link(sql, audit, { subject, email, id })
      if (verb === 'promote' || verb === 'demote') {
        await setAdmin(sql, audit, { id, isAdmin: verb === 'promote', cancelOnOthers })
        return `${email} is ${verb === 'promote' ? 'a platform admin' : 'a user, unless ADMIN_SUBJECTS names it,'} within 5 seconds`
      }
      await disableAccount(sql, audit, id)
      return `${email} is out: sessions, API keys and tokens have ended; a bearer token ends within 5 seconds`
    })
  }

const describeLink = ({ link }: Link, email: string): string =>
  `${link}\nsets the password of ${email}, once, within three days`

const describe = ({ email, id, ...account }: ListedAccount): string =>
  [
    email,
    id,
    account.isAdmin ? 'admin' : 'user',
    account.disabled
      ? 'disabled'
      : account.hasPassword || account.passkeys > 0
        ? 'active'
        : 'invited',
    counted(account.passkeys, 'passkey'),
    counted(account.sessions, 'session'),
  ].join('  ')

/** Links a subject, which may own nothing yet: that would stay with it. */
const link = async (
  sql: Transaction,
  audit: Audit,
  { subject, email, id }: { subject: string; email: string; id: string },
): Promise<string> => {
  const known = await findUser(sql, subject)
  if (known?.email !== undefined && known.email.toLowerCase() !== email)
    throw new OperatorError(
      `${subject} has signed in as ${known.email}: the addresses must be the same`,
    )
  if (await ownsAnything(sql, subject))
    throw new OperatorError(
      `${subject} owns tasks, API keys or publishers: delete or transfer them first`,
    )
  await linkSubject(sql, subject, id)
  const [target, after] = [auditTarget.user(id), { subject }]
  await insertAudit(sql, audit, { action: 'account.link', target, after })
  return `who signs in as ${subject} is ${email} (${id}) within a minute`
}
