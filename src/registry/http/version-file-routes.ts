import { buffer } from 'node:stream/consumers'

import { unpackFile } from '../inspector/unpack-file.ts'
import type { Storage } from '../../platform/storage/storage.ts'
import { findFiles } from '../db/archive.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import {
  FILE_TEXT_MAX,
  VersionFileContent,
  VersionFileQuery,
  VersionFiles,
} from '../domain/version-file.ts'
import type { ArchiveFile } from '../../../packages/inspector/src/inspection.ts'
import { apiError, errors, shown } from '../../platform/domain/errors.ts'
import { makeSemaphore } from '../../platform/domain/semaphore.ts'
import { isKnown, quoteTag } from '../../platform/http/serve/etag.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { Route, RouteRequest } from '../../platform/http/route.ts'
import { getFilesAccess } from './access.ts'
import type { ListDeps } from './deps.ts'
import { OfVersion, VERSION_ERRORS, VERSION_PATH } from './paths.ts'

export interface VersionFileDeps extends Pick<ListDeps, 'sql' | 'heavyReadSemaphore'> {
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

/** Files are read a few at once in this process, apart from lists: a slow store holds up nothing else. */
const fileReads = makeSemaphore(4)

/** The routes by which the code of a version is looked at. Nothing is unpacked but the one file that is asked for. */
export const makeVersionFileRoutes = (deps: VersionFileDeps): Route[] => [
  defineRoute({
    ...COMMON,
    path: `${VERSION_PATH}/files`,
    summary: 'List the files of a version',
    responses: ok('The files.', VersionFiles),
    errors: ERRORS,
    handler: async (request) => {
      const { sha256, files } = await getFiles(deps, request)
      const headers = { etag: quoteTag(sha256) }
      return isKnown(request.headers['if-none-match'], headers.etag)
        ? { status: 304, headers }
        : { status: 200, body: { files: files.map(describe) }, headers }
    },
  }),
  defineRoute({
    ...COMMON,
    path: `${VERSION_PATH}/files/content`,
    summary: 'Read a text file of a version',
    query: VersionFileQuery,
    responses: ok('The file.', VersionFileContent),
    errors: [...ERRORS, 'file_not_found', 'file_too_large', 'file_not_text'],
    handler: async (request) => {
      const { storageKey, files } = await getFiles(deps, request)
      const file = files.find(({ path }) => path === request.query.path)
      if (!file)
        throw apiError('file_not_found', `The version has no file ${shown(request.query.path)}.`)
      const headers = { etag: quoteTag(file.sha256) }
      if (isKnown(request.headers['if-none-match'], headers.etag)) return { status: 304, headers }
      const content = await fileReads.run(() => readContent(deps, storageKey, file))
      if (content.includes(0)) throw apiError('file_not_text')
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(content)
      return { status: 200, body: { ...describe(file), text }, headers }
    },
  }),
]

const getFiles = async (
  deps: VersionFileDeps,
  { params, caller }: Pick<RouteRequest<OfVersion>, 'params' | 'caller'>,
) => {
  const { id, version, status, reason } = await getFilesAccess(deps, { ...params, caller })
  const found = await deps.heavyReadSemaphore.run(() =>
    withinDeadline(deps.sql, findFiles(deps.sql, id)),
  )
  // An Active one that an older release checked has an archive, and no list of its files.
  if (!found)
    throw errors.archiveNotFound(version, status === 'NodeVersionStatusActive' ? undefined : reason)
  return found
}

const describe = ({ path, bytes, sha256 }: ArchiveFile) => ({ path, bytes, sha256 })

/** Reads a file of an archive. It was read whole when it was accepted: whatever fails here is an error of the store. */
const readContent = async (
  { storage }: VersionFileDeps,
  storageKey: string,
  file: ArchiveFile,
): Promise<Buffer> => {
  const { bytes, dataOffset: start, packedBytes } = file
  // Packed data can be longer than what it holds only by empty blocks.
  if (bytes > FILE_TEXT_MAX || packedBytes > 2 * FILE_TEXT_MAX) throw apiError('file_too_large')
  if (packedBytes === 0) return Buffer.alloc(0)
  try {
    const { stream } = await storage.open(storageKey, { start, end: start + packedBytes - 1 })
    return await unpackFile(await buffer(stream), file)
  } catch (error) {
    throw errors.unavailable(error)
  }
}
