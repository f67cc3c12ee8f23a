import { createHash, randomBytes, randomUUID } from 'node:crypto'

import type { Transaction } from '../../platform/db/client.ts'
import { changesOf, insertAudit, type Audit } from '../../platform/db/audit-log.ts'
import { insertAccount, listAccounts, revokeCredentials, updateAccount } from '../db/account.ts'
import { deleteLinks, insertOnce } from '../db/once.ts'
import { deletePasskeys } from '../db/passkey.ts'
import { endSessions } from '../db/session.ts'
import { auditTarget, type AuditAction } from '../../platform/domain/audit-log.ts'

/** Three days: an invitation that is sent on a Friday works on Monday. */
const LINK_SECONDS = 3 * 86_400

export interface AccountChange {
  id: string
  action: Extract<AuditAction, `account.${string}`>
  /** Members of the entry that the account does not show. */
  more?: object
}

/** Changes an account and writes what has changed of it into the audit log. */
export const changeAccount = async <Result>(
  sql: Transaction,
  audit: Audit,
  { id, action, more }: AccountChange,
  work: () => Promise<Result>,
): Promise<Result> => {
  const [was = {}] = await listAccounts(sql, id)
  const result = await work()
  const [is = {}] = await listAccounts(sql, id)
  const { before, after } = changesOf(was, is, is)
  const entry = { action, target: auditTarget.user(id), before, after: { ...after, ...more } }
  await insertAudit(sql, audit, entry)
  return result
}

interface Invited {
  email: string
  isAdmin: boolean
  publicUrl: string
}

/** A link that sets a password, once, and when it ends. */
export interface Link {
  link: string
  expires_at: string
}

/** Adds an account. Returns its id and the link that sets its password; undefined when the address has an account. */
export const inviteAccount = async (
  sql: Transaction,
  audit: Audit,
  { email, isAdmin, publicUrl }: Invited,
): Promise<(Link & { id: string }) | undefined> => {
  const id = randomUUID()
  if (!(await insertAccount(sql, { id, email, isAdmin }))) return undefined
  const [target, after] = [auditTarget.user(id), { email, isAdmin }]
  await insertAudit(sql, audit, { action: 'account.invite', target, after })
  return { id, ...(await makeLink(sql, id, publicUrl)) }
}

/** Takes password, passkeys and sessions from an account, and lets it in again by the link that it returns; `keys` says what became of its keys. */
export const resetAccount = (
  sql: Transaction,
  audit: Audit,
  { id, publicUrl, endsKeys }: { id: string; publicUrl: string; endsKeys: boolean },
): Promise<Link & { keys: string }> => {
  const more = { link: 'made', ...(endsKeys && { api_keys: 'ended' }) }
  return changeAccount(sql, audit, { id, action: 'account.reset', more }, async () => {
    await updateAccount(sql, id, { password: null, isDisabled: false })
    await deletePasskeys(sql, { accountId: id })
    await endSessions(sql, id)
    if (endsKeys) await revokeCredentials(sql, id)
    const keys = `The API keys and tokens of the account ${endsKeys ? 'have ended' : 'go on'}.`
    return { ...(await makeLink(sql, id, publicUrl)), keys }
  })
}

/** Stops what an account does to things of others, in the transaction that ends its right to. */
export type CancelOnOthers = (sql: Transaction, owner: string) => Promise<void>

interface AdminChange {
  id: string
  isAdmin: boolean
  cancelOnOthers: CancelOnOthers
}

/** Makes a user a platform admin, or a platform admin a user again, whose operations on tasks of others then stop. */
export const setAdmin = (
  sql: Transaction,
  audit: Audit,
  { id, isAdmin, cancelOnOthers }: AdminChange,
): Promise<void> =>
  changeAccount(sql, audit, { id, action: 'account.role' }, async () => {
    await updateAccount(sql, id, { isAdmin })
    if (!isAdmin) await cancelOnOthers(sql, id)
  })

/** Keeps an account out: its sessions, links, API keys and personal access tokens end. */
export const disableAccount = (sql: Transaction, audit: Audit, id: string): Promise<void> =>
  changeAccount(sql, audit, { id, action: 'account.disable' }, async () => {
    await updateAccount(sql, id, { isDisabled: true })
    await deleteLinks(sql, id)
    await endSessions(sql, id)
    await revokeCredentials(sql, id)
  })

const makeLink = async (sql: Transaction, accountId: string, publicUrl: string): Promise<Link> => {
  const token = randomBytes(32).toString('base64url')
  const sha256 = createHash('sha256').update(token).digest('hex')
  await deleteLinks(sql, accountId)
  const once = { sha256, kind: 'link', accountId, seconds: LINK_SECONDS } as const
  return { link: `${publicUrl}/auth/link/${token}`, expires_at: await insertOnce(sql, once) }
}
