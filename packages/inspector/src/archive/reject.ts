import { ARCHIVE_CODES } from './codes.ts'
import type { ArchiveCode } from './codes.ts'

/** The entry that broke a rule, the rule's limit and what was found. */
export interface RejectionDetail {
  /** Its path, without control characters, at most 200 characters. */
  entry?: string
  limit?: number | string
  value?: number | string
}

/** Ends the reading of an archive; `readArchive` turns it into a result. */
export class ArchiveRejection extends Error {
  readonly code: ArchiveCode
  readonly detail: RejectionDetail

  constructor(code: ArchiveCode, detail: RejectionDetail) {
    super(`${ARCHIVE_CODES[code]}${describe(detail)}`)
    this.name = 'ArchiveRejection'
    this.code = code
    this.detail = detail
  }
}

export const reject: Reject = (code, { entry, limit, value } = {}) => {
  throw new ArchiveRejection(code, {
    ...(entry !== undefined && { entry: printable(entry) }),
    ...(limit !== undefined && { limit }),
    ...(value !== undefined && { value: typeof value === 'string' ? printable(value) : value }),
  })
}

/** Named as a type because only then the compiler knows that nothing follows a call. */
type Reject = (code: ArchiveCode, detail?: RejectionDetail) => never

/** A text of the archive as databases and terminals take it: no control characters, at most 200 characters. */
const printable = (text: string): string =>
  firstCharacters(firstCharacters(text).replaceAll(/[\p{Cc}\p{Bidi_C}]/gu, escapeCharacter))

const firstCharacters = (text: string): string => [...text].slice(0, SHOWN_CHARACTERS).join('')

const escapeCharacter = (character: string): string =>
  String.raw`\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`

const describe = ({ entry, limit, value }: RejectionDetail): string => {
  const parts = [
    entry !== undefined && `entry "${entry}"`,
    value !== undefined && `found ${value}`,
    limit !== undefined && `limit ${limit}`,
  ].filter(Boolean)
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`
}

const SHOWN_CHARACTERS = 200
