import { Type, type Static } from 'typebox'

import { count, queryText } from '../../platform/domain/schema-fields.ts'

/** Most bytes of a file that is read as text. */
export const FILE_TEXT_MAX = 1_048_576

const VersionFile = Type.Object({
  path: Type.String({ description: 'Path in the archive.' }),
  bytes: count('Bytes, unpacked.'),
  sha256: Type.String({ description: 'SHA-256 of the content, in lower-case hex.' }),
})

/** Response of GET /nodes/{n}/versions/{v}/files. */
export const VersionFiles = Type.Object({
  files: Type.Array(VersionFile, { description: 'By path; folders are left out.' }),
})

/** Query of GET /nodes/{n}/versions/{v}/files/content. */
export const VersionFileQuery = Type.Object({ path: queryText(512, 'Path in the archive.') })
export type VersionFileQuery = Static<typeof VersionFileQuery>

/** Its response. */
export const VersionFileContent = Type.Object({
  ...VersionFile.properties,
  text: Type.String({ description: 'The content; bytes that are no UTF-8 are U+FFFD.' }),
})
