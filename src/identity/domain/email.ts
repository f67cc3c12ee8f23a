import unhomoglyph from 'unhomoglyph'

/** Reads an address as accounts have it, in lower case; undefined for what is none. */
export const readEmail = (text: unknown): string | undefined => {
  const email = typeof text === 'string' ? text.trim().normalize('NFC').toLowerCase() : ''
  return email.length <= 320 && /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u.test(email)
    ? email
    : undefined
}

/**
 * Makes what an address looks like: without letters that nobody sees, and with ASCII letters in place of letters that
 * look like them. ASCII itself stays as it is, because `bill1` and `billl` are two people.
 */
export const lookOf = (email: string): string =>
  email
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{Default_Ignorable_Code_Point}|(?<=[ij])\u0307/gu, '')
    .replaceAll(/\P{ASCII}/gu, (letter) => unhomoglyph(letter))
    .toLowerCase()
