import { PATH_SENTENCES } from './path-rules.ts'

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

/** Why an archive is rejected, and what its publisher can do about it. */
export const ARCHIVE_CODES = {
  archive_too_big: 'The archive is too big: leave out models, media and other data',
  not_a_zip: 'The archive does not begin as a zip does: send the pack as a zip',
  truncated: 'The archive has no complete end record, it is cut or damaged: zip and send it again',
  multi_disk: 'The archive is one part of several: zip the pack into a single file',
  ambiguous_end: 'The archive has more than one end record: zip the pack again',
  prepended_data: 'The archive has data before its first entry: zip the pack again',
  trailing_data: 'The archive has data or a long comment after its end record: zip the pack again',
  too_many_entries: 'The archive has too many entries: leave out what the pack does not need',
  directory_too_big: 'The directory of the archive is too big: zip the pack again without comments',
  malformed: 'The records of the archive contradict each other or are damaged: zip the pack again',
  ...PATH_SENTENCES,
  path_encoding: 'A name says that it is UTF-8 and is not: zip the pack again',
  path_too_long: 'A path is too long or too deep: shorten it',
  duplicate_name: 'Two entries have the same name: zip the pack again',
  name_collision:
    'Two entries differ only by upper and lower case or Unicode form: rename one of them',
  file_is_folder: 'A name is both a file and a folder: rename one of them',
  folder_with_data: 'A folder entry holds data: zip the pack again',
  symlink: 'An entry is a symbolic link: put the file itself in its place',
  special_file: 'An entry is a device, pipe or socket: leave it out',
  encrypted: 'An entry is encrypted: zip the pack without a password',
  unsupported_method: 'An entry is packed by another method than stored or deflate: zip it again',
  header_mismatch: 'The local header of an entry differs from the directory: zip the pack again',
  overlap: 'Entries share bytes of the archive: zip the pack again',
  size_mismatch: 'An entry does not have the size that the archive declares: zip the pack again',
  bad_crc: 'The checksum of an entry is wrong, the archive is damaged: zip and send it again',
  bad_data: 'The packed data of an entry is damaged: zip and send it again',
  entry_too_big: 'An entry is too big: have the pack download it when it is needed',
  total_too_big: 'All entries together are too big: leave out models, media and other data',
  ratio: 'The archive unpacks to far more than its size: leave out files of repeated bytes',
} as const

export type ArchiveCode = keyof typeof ARCHIVE_CODES
