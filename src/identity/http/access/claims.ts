import type { JWTPayload } from 'jose'

import { isObject } from '../../../platform/domain/is-object.ts'
import type { Profile } from '../../../platform/http/access/caller.ts'

/** Reads name and e-mail address. One that is not usable text is left out. */
export const readProfile = ({ name, email }: JWTPayload): Profile => ({
  ...(isText(name, 255) && { name: name.trim() }),
  ...(isText(email, 320) && { email: email.trim() }),
})

/** PostgreSQL takes neither NUL nor lone surrogates, and no name needs any other control character. */
const isText = (value: unknown, longest: number): value is string =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  Array.from(value).length <= longest &&
  !/[\p{Cc}\p{Cs}]/u.test(value)

export type IsAdmin = (subject: string, claims?: JWTPayload) => Promise<boolean>

/**
 * Makes the one check for platform admins, who may come by a token, a key or a session: the subjects of ADMIN_SUBJECTS;
 * with AUTH=builtin the accounts that are admins now, whatever a token said of them; else everyone whose token has
 * ADMIN_CLAIM, `name=value`, where dots may lead into objects. A claim that is a list has the value when one of its items
 * is the value.
 */
export const makeIsAdmin = ({
  subjects,
  claim,
  isAdminAccount,
}: {
  subjects: readonly string[]
  claim: string
  /** Check of an account of AUTH=builtin; absent: the accounts belong to an issuer. */
  isAdminAccount?: ((id: string) => Promise<boolean>) | undefined
}): IsAdmin => {
  const [name = '', value = ''] = claim.split(/=(.*)/s)
  return async (subject, claims = {}) => {
    if (subjects.includes(subject)) return true
    if (isAdminAccount) return await isAdminAccount(subject)
    return (
      name !== '' &&
      [findClaim(claims, name)].flat().some((item) => isWord(item) && String(item) === value)
    )
  }
}

/** Finds the claim of this very name, which may be a URL, else the one to which its dots lead. */
const findClaim = (claims: Readonly<Record<string, unknown>>, name: string): unknown => {
  if (Object.hasOwn(claims, name)) return claims[name]
  for (const { index } of name.matchAll(/\./g)) {
    const outer = Object.hasOwn(claims, name.slice(0, index)) && claims[name.slice(0, index)]
    const found = isObject(outer) ? findClaim(outer, name.slice(index + 1)) : undefined
    if (found !== undefined) return found
  }
  return undefined
}

/** Claims that are a text or number in any token. */
const PLAIN = ['iss', 'sub', 'aud', 'exp', 'nbf', 'iat', 'jti', 'scope', 'azp', 'email', 'name']

/** Says why no token of an issuer has a claim, `name=value`; undefined when one may. */
export const findClaimIssue = (claim: string, issuer: string): string | undefined => {
  const [name = '', value = ''] = claim.split(/=(.*)/s)
  const [outer = '', ...inner] = name.split('.')
  if (/^\s|\s=|=\s|\s$/.test(claim)) return 'the spaces belong to its name or value'
  if (inner.length > 0 && PLAIN.includes(outer)) return `${outer} is a text or number`
  if (/^(exp|nbf|iat|jti)$/.test(name)) return `${name} is another one in each token`
  return name === 'iss' && value !== issuer ? `iss is ${issuer} in each token` : undefined
}

const isWord = (item: unknown): item is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof item)
