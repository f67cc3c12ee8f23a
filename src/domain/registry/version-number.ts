/** Versions by Semantic Versioning 2.0.0, read strictly: no blanks, no `v`, three numbers without leading zeros. */

export const VERSION_TEXT_MAX = 256

const NUMBER = '(0|[1-9]\\d*)'
const PRERELEASE_ID = '(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)'
const BUILD_ID = '[0-9a-zA-Z-]+'

/** As the standard recommends it. What no pattern can say: numbers are at most 2^53 − 1. */
export const VERSION_PATTERN = `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${PRERELEASE_ID}(?:\\.${PRERELEASE_ID})*))?(?:\\+${BUILD_ID}(?:\\.${BUILD_ID})*)?$`

/** The columns that order versions, and what is unique in a node. */
export interface VersionNumber {
  /** Without build metadata: `1.0.0+a` and `1.0.0+b` are one version. */
  canonical: string
  major: number
  minor: number
  patch: number
  /** Orders versions of equal major, minor and patch, byte by byte (`collate "C"`); `~` for a release. */
  pre_key: string
}

/** Reads a version; undefined for any text that is not strictly one. */
export const parseVersionNumber = (text: string): VersionNumber | undefined => {
  // Asked before the pattern, which would walk a megabyte.
  if (text.length > VERSION_TEXT_MAX) return undefined
  const match = FORM.exec(text)
  if (!match) return undefined
  const [major = 0, minor = 0, patch = 0] = match.slice(1, 4).map(Number)
  const identifiers = match[4]?.split('.') ?? []
  const numbers = [major, minor, patch, ...identifiers.filter(isNumeric).map(Number)]
  if (!numbers.every(Number.isSafeInteger)) return undefined
  const release = `${major}.${minor}.${patch}`
  const canonical = match[4] === undefined ? release : `${release}-${match[4]}`
  return { canonical, major, minor, patch, pre_key: preKey(identifiers) }
}

/**
 * The version that a malformed text means, if blanks, a leading `v` or `=`, leading zeros, or one or two missing numbers
 * are all that is wrong with it.
 */
const suggestVersion = (text: string): string | undefined => {
  if (text.length > SUGGESTION_MAX) return undefined
  const bare = text.replace(/\s+/g, '').replace(/^[v=]+/i, '')
  const [, numbers, prerelease, build = ''] = LOOSE.exec(bare) ?? []
  if (numbers === undefined) return undefined
  const release = [...numbers.split('.'), '0', '0'].slice(0, 3).map(withoutZeros).join('.')
  const tail = prerelease?.split('.').map(withoutZeros).join('.')
  const suggestion = release + (tail === undefined ? '' : `-${tail}`) + build
  return parseVersionNumber(suggestion) && suggestion
}

/** The fault of a malformed version, which stands behind the name of its field: expectation, value and suggestion. */
export const versionFault = (text: string, shown: string): string | undefined => {
  if (parseVersionNumber(text)) return undefined
  const suggestion = suggestVersion(text)
  const hint = suggestion === undefined ? '' : `; did you mean ${JSON.stringify(suggestion)}?`
  return `must be a version of Semantic Versioning 2.0.0 such as 1.0.0, of 1 to ${VERSION_TEXT_MAX} characters, with numbers up to 2^53 − 1, got ${shown}${hint}`
}

const FORM = new RegExp(VERSION_PATTERN)
const LOOSE = /^(\d+(?:\.\d+){0,2})(?:-([0-9A-Za-z.-]+))?(\+[0-9A-Za-z.-]+)?$/
const RELEASE_KEY = '~'
/** Room for blanks and zeros around the longest version. */
const SUGGESTION_MAX = 2 * VERSION_TEXT_MAX

const isNumeric = (identifier: string): boolean => /^\d+$/.test(identifier)

const withoutZeros = (identifier: string): string =>
  isNumeric(identifier) ? identifier.replace(/^0+(?=\d)/, '') : identifier

/**
 * A number sorts before a text, a shorter number before a longer one, and a list before the same with more behind it:
 * the blank that ends each identifier sorts below all that one may hold.
 */
const preKey = (identifiers: readonly string[]): string =>
  identifiers.length === 0
    ? RELEASE_KEY
    : identifiers
        .map((id) => (isNumeric(id) ? `0${String(id.length).padStart(3, '0')}${id} ` : `1${id} `))
        .join('')
