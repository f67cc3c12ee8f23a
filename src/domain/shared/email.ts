/** Reads an address as accounts have it, in lower case; undefined for what is none. */
export const readEmail = (text: unknown): string | undefined => {
  const email = typeof text === 'string' ? text.trim().normalize('NFC').toLowerCase() : ''
  return email.length <= 320 && /^[^\s@\p{Cc}\p{Cs}]+@[^\s@\p{Cc}\p{Cs}]+$/u.test(email)
    ? email
    : undefined
}
