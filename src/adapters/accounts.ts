import { createHash, randomBytes, randomUUID } from 'node:crypto'

import type { Transaction } from '../db/client.ts'
import { insertAccount, revokeCredentials, updateAccount } from '../db/sign-in/account.ts'
import { deleteLinks, insertOnce } from '../db/sign-in/once.ts'
import { deletePasskeys } from '../db/sign-in/passkey.ts'
import { endSessions } from '../db/sign-in/record.ts'

/** Three days: an invitation that is sent on a Friday works on Monday. */
const LINK_SECONDS = 3 * 86_400

interface Invited {
  email: string
  isAdmin: boolean
  publicUrl: string
}

/** Adds an account. Returns the link that sets its password; undefined when the address has an account. */
export const inviteAccount = async (
  sql: Transaction,
  { email, isAdmin, publicUrl }: Invited,
): Promise<string | undefined> => {
  const id = randomUUID()
  const isNew = await insertAccount(sql, { id, email, isAdmin })
  return isNew ? await makeLink(sql, id, publicUrl) : undefined
}

/** Takes password, passkeys and sessions from an account, and lets it in again by the link that it returns. */
export const resetAccount = async (
  sql: Transaction,
  id: string,
  publicUrl: string,
): Promise<string> => {
  await updateAccount(sql, id, { password: null, isDisabled: false })
  await deletePasskeys(sql, { accountId: id })
  await endSessions(sql, id)
  return await makeLink(sql, id, publicUrl)
}

/** Keeps an account out: its sessions, links, API keys and personal access tokens end. */
export const disableAccount = async (sql: Transaction, id: string): Promise<void> => {
  await updateAccount(sql, id, { isDisabled: true })
  await deleteLinks(sql, id)
  await endSessions(sql, id)
  await revokeCredentials(sql, id)
}

const makeLink = async (sql: Transaction, accountId: string, publicUrl: string) => {
  const token = randomBytes(32).toString('base64url')
  const sha256 = createHash('sha256').update(token).digest('hex')
  await deleteLinks(sql, accountId)
  await insertOnce(sql, { sha256, kind: 'link', accountId, seconds: LINK_SECONDS })
  return `${publicUrl}/auth/link/${token}`
}
