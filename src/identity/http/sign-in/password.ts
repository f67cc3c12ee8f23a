import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'

import type { Request, Response } from 'express'

import { networkOf } from '../../../platform/adapters/network-of.ts'
import { verifyPassword } from '../../adapters/password.ts'
import { withinDeadline } from '../../../platform/db/client.ts'
import { findAccountByEmail, type Account } from '../../db/account.ts'
import { beginAttempt, forgetFailures } from '../../db/failure.ts'
import { lookOf } from '../../domain/email.ts'
import { ApiError } from '../../../platform/domain/errors.ts'
import { digest } from '../access/digest.ts'
import { addressOf } from '../../../platform/http/access/principal.ts'
import type { SignInDeps } from './deps.ts'

/** Failures before attempts must wait: of an account from one address or known browser, and of it from all others. */
const FREE = { own: 5, all: 50 }

export const WAIT =
  'Too many attempts. Wait some minutes, or use a passkey or a browser that has signed in before.'

const WRONG = 'Email or password is wrong.'

/**
 * Returns the account of an address and a password, or the sentence that says why not. It does the same, and takes as
 * long, whether the address has an account or not. Failures are counted before the password is compared: in the quota
 * of the client's address, then by account and address, and by account. A browser that has signed in to the account
 * before has counts of its own, so that nobody shuts its user out, neither from elsewhere nor from beside it.
 */
export const checkPassword = async (
  deps: SignInDeps,
  { request, email, password }: { request: Request; email: string; password: string },
): Promise<Account | string> => {
  const { sql, limits } = deps
  const account = await withinDeadline(sql, findAccountByEmail(sql, email))
  const device = readDevice(deps, request, account?.id)
  const from = device ?? networkOf(request.ip ?? '')
  // Not the quota of rejected tokens: a program that goes on with an old token keeps nobody else of its address out.
  const quota = `password ${from}`
  try {
    await limits?.take('auth', quota)
  } catch (error) {
    if (error instanceof ApiError) return WAIT
    throw error
  }
  // One count for all its spellings.
  const name = account?.email ?? lookOf(email)
  const counts = [
    { key: digest(`${name} ${from}`), free: FREE.own },
    ...(device === undefined ? [{ key: digest(name), free: FREE.all }] : []),
  ]
  for (const count of counts)
    if (!(await withinDeadline(sql, beginAttempt(sql, count)))) return WAIT
  const isRight = await verifyPassword({ password, address: addressOf(request) }, account?.password)
  if (account === undefined || !isRight || account.disabled) return WRONG
  const keys = counts.map(({ key }) => key)
  await withinDeadline(sql, forgetFailures(sql, keys))
  await limits?.giveBack('auth', quota)
  return account
}

const DEVICE = 'kiln_device'
const DEVICE_SECONDS = 365 * 86_400

/** Remembers that this browser has signed in to the account. */
export const rememberDevice = (
  { cookieKeys, origin }: SignInDeps,
  response: Response,
  accountId: string,
): void => {
  const id = randomBytes(16).toString('base64url')
  response.cookie(DEVICE, `${id}.${signDevice(cookieKeys[0] ?? '', id, accountId)}`, {
    path: '/auth',
    httpOnly: true,
    sameSite: 'lax',
    secure: origin.startsWith('https:'),
    maxAge: DEVICE_SECONDS * 1000,
  })
}

const signDevice = (key: string, id: string, accountId: string): string =>
  createHmac('sha256', key).update(`device ${id} ${accountId}`).digest('base64url')

const readDevice = (
  { cookieKeys }: SignInDeps,
  { headers }: Request,
  accountId: string | undefined,
): string | undefined => {
  const [, id = '', signature = ''] =
    /(?:^|; )kiln_device=([\w-]+)\.([\w-]{43})(?:;|$)/.exec(headers.cookie ?? '') ?? []
  if (id === '' || accountId === undefined) return undefined
  const given = Buffer.from(signature)
  return cookieKeys.some((key) =>
    timingSafeEqual(Buffer.from(signDevice(key, id, accountId)), given),
  )
    ? id
    : undefined
}
