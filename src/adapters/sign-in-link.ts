import { createHash, randomBytes } from 'node:crypto'

import type { Transaction } from '../db/client.ts'
import { deleteLinks, insertOnce } from '../db/sign-in/once.ts'

/** Three days: an invitation that is sent on a Friday works on Monday. */
const LINK_SECONDS = 3 * 86_400

/** Makes the link by which an account sets its password, once; links made before end. */
export const makeSignInLink = async (
  sql: Transaction,
  { accountId, publicUrl }: { accountId: string; publicUrl: string },
): Promise<string> => {
  const token = randomBytes(32).toString('base64url')
  const sha256 = createHash('sha256').update(token).digest('hex')
  await deleteLinks(sql, accountId)
  await insertOnce(sql, { sha256, kind: 'link', accountId, seconds: LINK_SECONDS })
  return `${publicUrl}/auth/link/${token}`
}
