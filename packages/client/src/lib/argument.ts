import { findNear } from './near.ts'

/** An error of the caller, who gets it before anything is sent. Its message names the argument, and never has its value. */
export class ArgumentError extends TypeError {
  override readonly name = 'ArgumentError'
}

/** Returns a credential or a key, which a header takes whole. */
export const requireHeader = (name: string, value: unknown): string => {
  if (typeof value === 'string' && /^[\x21-\x7E]+$/.test(value)) return value
  throw new ArgumentError(
    `${name} must be visible ASCII characters without spaces and line ends (that of a file has to be cut off)${found(value)}`,
  )
}

/** Returns an http(s) address. What `fetch` says of one that has a password shows it. */
export const requireLink = (name: string, value: unknown): string => {
  const isLink = typeof value === 'string' && /^https?:\/\/[^\s/?#@\\]+(?:[/?#]\S*)?$/i.test(value)
  if (isLink && URL.canParse(value)) return value
  throw new ArgumentError(
    `${name} must be an address that begins with http:// or https:// and names no user${found(value)}`,
  )
}

/** Returns the address of a service, without a slash at its end. */
export const requireAddress = (name: string, value: unknown): string => {
  const address = requireLink(name, value)
  if (!/[?#]/.test(address)) return address.replace(/\/+$/, '')
  throw new ArgumentError(`${name} must be the address of a service, which has no query`)
}

/** Encodes a segment of a path. A URL takes `..` for the folder above: who deletes such a version would delete its node. */
export const toSegment = (value: unknown): string => {
  if (typeof value === 'string' && !/^\.{0,2}$/.test(value)) return encodeURIComponent(value)
  throw new ArgumentError(`an id must not be empty, '.' or '..'${found(value)}`)
}

/** Rejects the path of a file in the place of an image, whose text is a link or Base64. */
export const requireNoPath = (name: string, text: string): void => {
  if (/^[a-z][\w+.-]+:/i.test(text) || !/[^\w+/=\s-]/.test(text.slice(0, 4096))) return
  throw new ArgumentError(
    `${name} must be a link, Base64 or bytes: is it the path of a file? Give what the file holds`,
  )
}

/** Rejects an option that nothing reads. @param meant what takes the place of options that begin so */
export const requireNames = (
  options: object,
  known: readonly string[],
  meant: Readonly<Record<string, string>>,
): void => {
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    const near = findNear(name, [...Object.keys(meant), ...known])
    const hint = near === undefined ? `expected ${known.join(', ')}` : `use ${meant[near] ?? near}`
    throw new ArgumentError(`there is no option ${name}: ${hint}`)
  }
}

const found = (value: unknown): string =>
  typeof value === 'string' ? '' : `, got ${value === null ? 'null' : typeof value}`
