import {
  generateAuthenticationOptions,
  generateRegistrationOptions,
  verifyAuthenticationResponse,
  verifyRegistrationResponse,
} from '@simplewebauthn/server'
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from '@simplewebauthn/server'

import { withinDeadline } from '../../../platform/db/client.ts'
import type { Account } from '../../db/account.ts'
import { insertOnce, takeOnce } from '../../db/once.ts'
import { findPasskey, listPasskeys, usePasskey, type Passkey } from '../../db/passkey.ts'
import { toStorable } from '../../../platform/db/storable-text.ts'
import { digest } from '../access/digest.ts'
import type { SignInDeps } from './deps.ts'

const CHALLENGE_SECONDS = 300

/** A challenge counts once, and only for what it was made for: a sign-in or an account. */
const challengeOf = (of: string, challenge: string) =>
  ({ sha256: digest(`${of} ${challenge}`), kind: 'challenge' }) as const

const keepChallenge = async <Options extends { challenge: string }>(
  { sql }: SignInDeps,
  of: string,
  options: Options,
): Promise<Options> => {
  const once = { ...challengeOf(of, options.challenge), seconds: CHALLENGE_SECONDS }
  await withinDeadline(sql, insertOnce(sql, once))
  return options
}

/** Expectations of both verifications. */
const expect = ({ sql, origin }: SignInDeps, of: string) => ({
  expectedChallenge: (challenge: string) =>
    withinDeadline(sql, takeOnce(sql, challengeOf(of, challenge))),
  expectedOrigin: origin,
  expectedRPID: new URL(origin).hostname,
  requireUserVerification: true,
})

/** Options to add a passkey to an account, for the browser. */
export const offerPasskey = async (deps: SignInDeps, { id, email }: Account) => {
  const known = await withinDeadline(deps.sql, listPasskeys(deps.sql, id))
  const options = await generateRegistrationOptions({
    rpName: 'Kiln',
    rpID: new URL(deps.origin).hostname,
    userID: new Uint8Array(Buffer.from(id)),
    userName: email,
    userDisplayName: email,
    excludeCredentials: known.map((passkey) => ({ id: passkey.id })),
    authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
  })
  return await keepChallenge(deps, id, options)
}

/** Reads a new passkey of an account; undefined when what the browser sent is not good. */
export const checkNewPasskey = async (
  deps: SignInDeps,
  { id: accountId }: Account,
  response: RegistrationResponseJSON,
): Promise<Passkey | undefined> => {
  const made = await verifyRegistrationResponse({ response, ...expect(deps, accountId) }).catch(
    rejected,
  )
  if (!made?.verified || !made.registrationInfo) return undefined
  const { id, publicKey, counter, transports = [] } = made.registrationInfo.credential
  const encoded = Buffer.from(publicKey).toString('base64url')
  return { id, accountId, publicKey: encoded, counter, transports: [...transports] }
}

/** Options to sign in with any passkey: no account is named, so nothing shows which there are. */
export const askForPasskey = async (deps: SignInDeps, uid: string) =>
  await keepChallenge(
    deps,
    uid,
    await generateAuthenticationOptions({
      rpID: new URL(deps.origin).hostname,
      userVerification: 'required',
    }),
  )

/** Returns the id of the account whose passkey it is; undefined when what the browser sent is not good. */
export const checkPasskey = async (
  deps: SignInDeps,
  uid: string,
  response: AuthenticationResponseJSON,
): Promise<string | undefined> => {
  const { sql } = deps
  const { id: text }: { id?: unknown } = response
  const given = toStorable(String(text))
  const passkey = await withinDeadline(sql, findPasskey(sql, given))
  if (!passkey) return undefined
  const { id, accountId, counter: before } = passkey
  const credential = {
    id,
    publicKey: new Uint8Array(Buffer.from(passkey.publicKey, 'base64url')),
    counter: before,
  }
  const checked = await verifyAuthenticationResponse({
    response,
    credential,
    ...expect(deps, uid),
  }).catch(rejected)
  if (!checked?.verified) return undefined
  const { newCounter: counter } = checked.authenticationInfo
  const isFirst = await withinDeadline(sql, usePasskey(sql, { id, before, counter }))
  return isFirst ? accountId : undefined
}

/** The library throws for all that a stranger's response may be wrong in. */
const rejected = (): undefined => undefined
