import type { JWTPayload } from 'jose'

/** Claims of a token about its user, beside the subject. */
export interface Profile {
  name?: string
  email?: string
}

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
 * ADMIN_CLAIM, `name=value`. A claim that is a list has the value when one of its items is the value.
 */
export const makeIsAdmin = ({
  subjects,
  claim,
  isAdminAccount,
}: {
  subjects: readonly string[]
  claim: string
  /** Of AUTH=builtin; absent: the accounts are those of an issuer. */
  isAdminAccount?: ((id: string) => Promise<boolean>) | undefined
}): IsAdmin => {
  const [name = '', value = ''] = claim.split(/=(.*)/s)
  return async (subject, claims = {}) => {
    if (subjects.includes(subject)) return true
    if (isAdminAccount) return await isAdminAccount(subject)
    return (
      name !== '' &&
      Object.hasOwn(claims, name) &&
      [claims[name]].flat().some((item) => isWord(item) && String(item) === value)
    )
  }
}

const isWord = (item: unknown): item is string | number | boolean =>
  ['string', 'number', 'boolean'].includes(typeof item)
