import { buffer } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { inflateRaw } from 'node:zlib'

import type { Storage } from '../../adapters/storage/storage.ts'
import { findFile, findFiles } from '../../db/registry/archive.ts'
import { withinDeadline } from '../../db/client.ts'
import type { ArchiveFile } from '../../domain/registry/inspection.ts'
import {
  FILE_TEXT_MAX,
  VersionFileContent,
  VersionFileQuery,
  VersionFiles,
} from '../../domain/registry/version-file.ts'
import { apiError, errors, shown } from '../../domain/shared/errors.ts'
import { isKnown, quoteTag } from '../serve/etag.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'
import { getFilesAccess } from './access.ts'
import type { RegistryDeps } from './deps.ts'
import { FILE } from './examples.ts'
import { OfVersion, VERSION_ERRORS, VERSION_PATH } from './paths.ts'

interface FileDeps extends Pick<RegistryDeps, 'sql' | 'heavyReads'> {
  storage: Storage
}

const COMMON = {
  tag: 'Versions',
  auth: 'optional',
  method: 'get',
  description:
    'Of an Active version for everybody; of any other for members of the publisher and platform admins.',
  params: OfVersion,
  read: 'public',
} as const
const ERRORS = [...VERSION_ERRORS, 'archive_not_found', 'version_blocked', 'busy'] as const

/** The routes by which the code of a version is looked at. Nothing is unpacked but the one file that is asked for. */
export const makeVersionFileRoutes = (deps: FileDeps): Route[] => [
  defineRoute({
    ...COMMON,
    path: `${VERSION_PATH}/files`,
    summary: 'List the files of a version',
    responses: {
      200: { description: 'The files.', schema: VersionFiles, example: { files: [FILE] } },
    },
    errors: ERRORS,
    handler: async ({ params, headers, caller }) => {
      const { id } = await getFilesAccess(deps, { ...params, caller })
      const found = await deps.heavyReads.run(() =>
        withinDeadline(deps.sql, findFiles(deps.sql, id)),
      )
      if (!found) throw errors.archiveNotFound()
      const answer = { headers: { etag: quoteTag(found.sha256) } }
      return isKnown(headers['if-none-match'], answer.headers.etag)
        ? { ...answer, status: 304 }
        : { ...answer, status: 200, text: `{"files":${found.files}}` }
    },
  }),
  defineRoute({
    ...COMMON,
    path: `${VERSION_PATH}/files/content`,
    summary: 'Read a text file of a version',
    query: VersionFileQuery,
    responses: {
      200: {
        description: 'The file.',
        schema: VersionFileContent,
        example: { ...FILE, text: 'NODE_CLASS_MAPPINGS = {}' },
      },
    },
    errors: [...ERRORS, 'file_not_found', 'file_too_large', 'file_not_text'],
    handler: async ({ params, query: { path }, headers, caller }) => {
      const { id: versionId } = await getFilesAccess(deps, { ...params, caller })
      const file = await withinDeadline(deps.sql, findFile(deps.sql, { versionId, path }))
      if (!file) throw apiError('file_not_found', `The version has no file ${shown(path)}.`)
      const { bytes, sha256, packedBytes } = file
      const etag = quoteTag(sha256)
      if (isKnown(headers['if-none-match'], etag)) return { status: 304, headers: { etag } }
      // Packed data can be longer only where it holds empty blocks.
      if (bytes > FILE_TEXT_MAX || packedBytes > 2 * FILE_TEXT_MAX)
        throw apiError(
          'file_too_large',
          `The file has ${bytes} bytes; at most ${FILE_TEXT_MAX} are read.`,
        )
      const content = await deps.heavyReads.run(() => readContent(deps, file))
      if (content.includes(0)) throw apiError('file_not_text')
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(content)
      return { status: 200, body: { path, bytes, sha256, text }, headers: { etag } }
    },
  }),
]

/** A file whose archive was read whole when it was accepted: whatever fails here is a fault of the store. */
const readContent = async (
  { storage }: FileDeps,
  {
    storageKey,
    bytes,
    dataOffset: start,
    packedBytes,
    isDeflated,
  }: ArchiveFile & { storageKey: string },
): Promise<Buffer> => {
  if (packedBytes === 0) return Buffer.alloc(0)
  try {
    const { stream } = await storage.open(storageKey, { start, end: start + packedBytes - 1 })
    const packed = await buffer(stream)
    return isDeflated ? await promisify(inflateRaw)(packed, { maxOutputLength: bytes + 1 }) : packed
  } catch (error) {
    throw errors.unavailable(error)
  }
}
