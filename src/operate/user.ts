import { randomUUID } from 'node:crypto'

import { makeSignInLink } from '../adapters/sign-in-link.ts'
import type { Sql } from '../db/client.ts'
import { insertAccount } from '../db/sign-in/account.ts'
import { unitOfWork } from '../db/unit-of-work.ts'
import { OperatorError } from '../process/operator-error.ts'

export interface UserCommand {
  verb: 'add'
  email: string
  isAdmin: boolean
}

export interface UserDeps {
  sql: Sql
  publicUrl: string
  /** False where AUTH is not builtin: its accounts sign nobody in there. */
  isBuiltin: boolean
}

/** Makes the commands for accounts of AUTH=builtin. */
export const makeUserCommand =
  ({ sql, publicUrl, isBuiltin }: UserDeps) =>
  async (command: UserCommand): Promise<string> => {
    if (!isBuiltin)
      throw new OperatorError('accounts are those of AUTH_ISSUER: set AUTH=builtin for own ones')
    return await add({ sql, publicUrl }, command)
  }

const add = (
  { sql, publicUrl }: Omit<UserDeps, 'isBuiltin'>,
  { email, isAdmin }: UserCommand,
): Promise<string> =>
  unitOfWork({ sql }, async (sql) => {
    const account = await insertAccount(sql, { id: randomUUID(), email, isAdmin })
    if (!account)
      throw new OperatorError(
        `${email} has an account: \`kiln operate user reset ${email}\` makes a new link`,
      )
    const link = await makeSignInLink(sql, { accountId: account.id, publicUrl })
    return `${link}\nsets the password of ${email}, once, within three days`
  })
