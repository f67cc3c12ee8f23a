/**
 * Versions by Semantic Versioning 2.0.0. What real packs publish is often less strict (`7.8`, `v1.0`, `2024.01.05`). A
 * text is taken for the version that it means where nothing of it is lost; four numbers, or `1.0rc1`, are no version.
 */

export const VERSION_TEXT_MAX = 256

const NUMBERS = '(\\d+(?:\\.\\d+){0,2})'
const IDS = '[0-9A-Za-z-]+(?:\\.[0-9A-Za-z-]+)*'

/** Form of a version. No pattern can say that numbers, and the length of the strict form, are at most 2^53 − 1. */
export const VERSION_PATTERN = `^\\s*(?:[vV=]\\s*)*${NUMBERS}(?:-(${IDS}))?(\\+${IDS})?\\s*$`

export const VERSION_EXPECTATION = `a version of Semantic Versioning 2.0.0 such as 1.0.0, of 1 to ${VERSION_TEXT_MAX} characters, with numbers up to 2^53 − 1`

/** The columns that order versions, and what is unique in a node. */
export interface VersionNumber {
  /** In the strict form, which is stored and shown: `v7.8` is `7.8.0`. */
  version: string
  /** Without build metadata: `1.0.0+a` and `1.0.0+b` are one version. */
  canonical: string
  major: number
  minor: number
  patch: number
  /** Orders versions of equal major, minor and patch, byte by byte (`collate "C"`); `~` for a release. */
  pre_key: string
}

/**
 * Reads a version; undefined for any text that means none. Blanks around it and a leading `v` or `=` do not count,
 * missing numbers are 0, and leading zeros are dropped.
 */
export const parseVersionNumber = (text: string): VersionNumber | undefined => {
  // Asked before the pattern, which would walk a megabyte.
  if (text.length > VERSION_TEXT_MAX) return undefined
  const match = FORM.exec(text)
  if (!match) return undefined
  const [, release = '', prerelease, build = ''] = match
  const [major = 0, minor = 0, patch = 0] = release.split('.').map(Number)
  const identifiers = prerelease?.split('.').map(withoutZeros) ?? []
  const numbers = [major, minor, patch, ...identifiers.filter(isNumeric).map(Number)]
  if (!numbers.every(Number.isSafeInteger)) return undefined
  const canonical = [`${major}.${minor}.${patch}`, identifiers.join('.')].filter(Boolean).join('-')
  const version = canonical + build
  if (version.length > VERSION_TEXT_MAX) return undefined
  return { version, canonical, major, minor, patch, pre_key: preKey(identifiers) }
}

/**
 * The version that is spelt most like a text that means none: `1.0rc1` is near `1.0.0-rc.1`, and `1.0.9.1` near `1.0.9`.
 * Undefined where it does not begin with numbers.
 */
export const nearestVersion = (text: string): string | undefined => {
  const match = NEAR.exec(text.slice(0, VERSION_TEXT_MAX))
  if (!match) return undefined
  const [, release = '', word, number] = match
  const tag = word === undefined ? '' : `-${[word.toLowerCase(), number].filter(Boolean).join('.')}`
  return parseVersionNumber(release + tag)?.version
}

const NEAR =
  /^\s*[vV=]*\s*(\d+(?:\.\d+){0,2})(?:[._-]?(a|alpha|b|beta|c|rc|dev|pre|preview)[._-]?(\d*)(?![a-z]))?/i

const FORM = new RegExp(VERSION_PATTERN)
const RELEASE_KEY = '~'

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
