import type { ServerResponse } from 'node:http'

import { Type } from 'typebox'

import type { Signer } from '../../platform/adapters/signing.ts'
import type { Storage } from '../../platform/storage/storage.ts'
import { findArchive } from '../db/archive.ts'
import type { ArchiveDownload } from '../db/archive.ts'
import { withinDeadline } from '../../platform/db/client.ts'
import { errors } from '../../platform/domain/errors.ts'
import { planFile, sendFile } from '../../platform/http/serve/file-response.ts'
import type { FilePlan, ServedFile } from '../../platform/http/serve/file-response.ts'
import type { Caller } from '../../platform/http/access/caller.ts'
import { defineRoute } from '../../platform/http/route.ts'
import type { Route } from '../../platform/http/route.ts'
import { getArchiveAccess } from './access.ts'
import { OfArchive } from './paths.ts'
import { cacheFor, type ReaderDeps } from './readers.ts'

export interface ArchiveDownloadDeps extends ReaderDeps {
  storage: Storage
  signer: Pick<Signer, 'isSignedRead'>
  now: () => Date
}

/** The route behind every downloadUrl. It asks the row at each request, so that a ban works at once. */
export const makeArchiveDownloadRoute = (deps: ArchiveDownloadDeps): Route =>
  defineRoute({
    method: 'get',
    path: '/archives/:publisherId/:nodeId/:version/node.zip',
    unread: 'ignored',
    tag: 'Files',
    summary: 'Download the archive of a version',
    description:
      'The downloadUrl of a version. Where everybody reads the registry it needs no credential, else none with the signature that `GET /nodes/{nodeId}/install` puts into it. It works from any origin and in parts (Range), also responds to HEAD, and counts no download. With a credential platform admins get the archive of a Flagged or Banned version, too, and members that of a Flagged one of theirs.',
    auth: 'optional',
    read: 'public',
    params: OfArchive,
    query: LinkQuery,
    hasOwnSecret: (_headers, target) => deps.signer.isSignedRead(target, deps.now()),
    requestHeaders: ['Range', 'If-None-Match', 'If-Range'],
    responses: ARCHIVE_RESPONSES,
    errors: [
      'publisher_not_found',
      'node_not_found',
      'version_not_found',
      'archive_not_found',
      'publisher_banned',
      'node_banned',
      'version_blocked',
      'range_not_satisfiable',
    ],
    handler: async ({ params, incoming, caller }) => {
      const archive = await getArchive(deps, params, caller)
      const plan = planFile(incoming.method, incoming.headers, toServedFile(archive, deps))
      const hasBody = incoming.method === 'GET' && plan.status !== 304
      return {
        stream: (response) =>
          hasBody
            ? sendArchive(response, plan, { ...deps, archive })
            : sendFile(response, plan, undefined),
      }
    },
  })

const LinkQuery = Type.Object({
  expires: Type.Optional(Type.String({ description: 'End of a signed link.' })),
  signature: Type.Optional(Type.String({ description: 'Signature of a signed link.' })),
})

const ARCHIVE_HEADERS = [
  'ETag',
  'Accept-Ranges',
  'Content-Disposition',
  'Cache-Control',
  'Digest',
  'Repr-Digest',
] as const

const ARCHIVE_RESPONSES = {
  200: { description: 'The archive.', mediaType: 'application/zip', headers: ARCHIVE_HEADERS },
  206: {
    description: 'The part that Range asked for.',
    mediaType: 'application/zip',
    headers: [...ARCHIVE_HEADERS, 'Content-Range'] as const,
  },
  304: {
    description: 'The caller has the archive already (If-None-Match).',
    headers: ['ETag', 'Cache-Control'] as const,
  },
}

/** The archive that a path names. Throws why its caller cannot have it. */
const getArchive = async (
  { sql }: ArchiveDownloadDeps,
  path: OfArchive,
  caller: Caller | undefined,
): Promise<ArchiveDownload & { isRestricted: boolean }> => {
  const { id, version, reason, isRestricted } = await getArchiveAccess({ sql }, { ...path, caller })
  const archive = await withinDeadline(sql, findArchive(sql, id))
  if (!archive) throw errors.archiveNotFound(version, reason)
  return { ...archive, isRestricted }
}

const toServedFile = (
  { sha256, bytes, isRestricted }: ArchiveDownload & { isRestricted: boolean },
  { registryReads }: ArchiveDownloadDeps,
) => {
  const digest = Buffer.from(sha256, 'hex').toString('base64')
  return {
    name: 'node.zip',
    size: bytes,
    contentType: 'application/zip',
    sha256,
    // The bytes of a version never change; caches in front are purged when it is banned.
    cacheControl: isRestricted
      ? 'private, no-store'
      : cacheFor(registryReads, 'max-age=31536000, immutable'),
    headers: { digest: `sha-256=${digest}`, 'repr-digest': `sha-256=:${digest}:` },
  } satisfies ServedFile
}

/** Sends an archive. A recorded file that cannot be opened is an error of the store, whatever the store says. */
const sendArchive = async (
  response: ServerResponse,
  plan: FilePlan,
  { storage, archive }: { storage: Storage; archive: ArchiveDownload },
): Promise<void> => {
  const { stream } = await storage.open(archive.storageKey, plan.range).catch((error: unknown) => {
    throw errors.unavailable(error)
  })
  await sendFile(response, plan, stream)
}
