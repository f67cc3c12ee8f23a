import { randomUUID } from 'node:crypto'
import { text } from 'node:stream/consumers'

import { withinDeadline } from '../../platform/db/client.ts'
import { ApiError, apiError, errors } from '../../platform/domain/errors.ts'
import { getCaller, type Caller } from '../../platform/http/access/caller.ts'
import { defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route, RouteRequest } from '../../platform/http/route.ts'
import type { UploadedFileDeps } from '../../platform/http/uploaded-file.ts'
import type { Storage } from '../../platform/storage/storage.ts'
import { findTakenNumber } from '../db/publish.ts'
import { CHECK_RESULT, checkFolder, CheckedArchive, CheckQuery } from '../domain/checked-archive.ts'
import type { ReadArchive } from '../domain/checked-archive.ts'
import { pictureWarnings } from '../domain/picture-address.ts'
import { parseVersionNumber } from '../domain/version-number.ts'
import { validatePublish } from '../domain/version-validation.ts'
import {
  CHECKS_AT_ONCE,
  mayCheck,
  runArchiveCheck,
  type CheckStarts,
} from '../temporal/check-archive.ts'
import { storeArchive, takeArchive } from './archive.ts'
import type { PublishDeps } from './deps.ts'
import { queryOf } from './paths.ts'
import { getPublishPlace, makeVersionExists, requirePublishing } from './publish-place.ts'
import { requireReader, type ReaderDeps } from './readers.ts'

export type CheckArchiveDeps = UploadedFileDeps &
  ReaderDeps &
  CheckStarts &
  Pick<PublishDeps, 'publishAuth' | 'publicUrl' | 'outbound' | 'archiveMaxBytes'> & {
    storage: Storage
  }

/** The route that says of an archive what its publication would say. */
export const makeCheckRoute = (deps: CheckArchiveDeps): Route =>
  defineRoute({
    method: 'post',
    path: '/registry/check',
    tag: 'Versions',
    summary: 'Check an archive before it is published',
    description:
      'The archive is read and scanned as that of a version, and nothing is kept: neither the archive nor what was found in it, and no number is used up. It goes behind all versions, and has 60 seconds; two of one owner are checked at once. What only the registry can compare, such as content that was banned before, is left to the publication.',
    auth: 'required',
    takesTokens: true,
    scopes: ['publish'],
    readsOnly: true,
    keepsNothing: true,
    ...queryOf(CheckQuery),
    requestHeaders: ['Content-Digest'],
    rawBody: { mediaType: 'application/zip', description: 'The archive, of whatever type.' },
    responses: ok('What a publication would say.', CheckedArchive),
    errors: [
      'archive_invalid',
      'checksum_mismatch',
      'forbidden',
      'token_scope_insufficient',
      'check_timed_out',
    ],
    admit: async ({ token, ...caller }) => {
      if (token) requirePublishing(token)
      // A token for one node checks what is to become a version of it.
      if (deps.registryReads !== 'public') await requireReader(deps, caller, {})
    },
    handler: makeCheckHandler(deps),
  })

/** Has each owner send as many archives at once as may be checked: the place of a check is taken behind the last byte. */
const makeCheckHandler = (deps: CheckArchiveDeps) => {
  const sending = new Map<string, number>()
  return async (request: RouteRequest<unknown, CheckQuery>): Promise<JsonResponse> => {
    const { owner } = getCaller(request)
    const before = sending.get(owner) ?? 0
    if (before >= CHECKS_AT_ONCE) throw errors.checksAtOnce()
    sending.set(owner, before + 1)
    try {
      return await checkArchive(deps, request)
    } finally {
      const left = (sending.get(owner) ?? 1) - 1
      if (left > 0) sending.set(owner, left)
      else sending.delete(owner)
    }
  }
}

const checkArchive = async (
  deps: CheckArchiveDeps,
  request: RouteRequest<unknown, CheckQuery>,
): Promise<JsonResponse> => {
  const caller = getCaller(request)
  // Before a byte of the archive is read.
  const isFree = await mayCheck(caller.owner, deps).catch((error: unknown) => {
    throw errors.unavailable(error)
  })
  if (!isFree) throw errors.checksAtOnce()
  const checkId = randomUUID()
  try {
    const read = await readArchive(deps, checkId, request)
    const body = { ...read, ...(await describePublication(deps, read, { ...request, caller })) }
    return { status: 200, body }
  } finally {
    // What a store keeps for now, or a killed process leaves, is the hourly purge's.
    await deps.storage.removePrefix(checkFolder(checkId)).catch(() => {})
  }
}

/** Takes the archive into the store, and has it read by a media worker. */
const readArchive = async (
  deps: CheckArchiveDeps,
  checkId: string,
  request: RouteRequest<unknown, CheckQuery>,
): Promise<ReadArchive> => {
  const storageKey = `${checkFolder(checkId)}/archive.zip`
  const rules = { request, maxBytes: deps.archiveMaxBytes }
  const archive = await takeArchive(deps, rules, async (file) => {
    await storeArchive(deps, storageKey, file)
    return { storageKey, sha256: file.sha256, bytes: file.bytes }
  })
  const upload = { checkId, archive, nodeId: request.query.node_id }
  const { owner } = getCaller(request)
  const end = await runArchiveCheck(upload, { ...deps, owner, signal: request.signal() })
  if (end === 'taken') throw errors.checksAtOnce()
  if (end === 'late') throw errors.checkTimedOut()
  if (end === 'failed') throw errors.unavailable(new Error('the check has failed'))
  try {
    const { stream } = await deps.storage.open(`${checkFolder(checkId)}/${CHECK_RESULT}`)
    return JSON.parse(await text(stream)) as ReadArchive
  } catch (error) {
    throw errors.unavailable(error)
  }
}

interface Asked {
  query: CheckQuery
  caller: Caller
}

type Publication = Pick<CheckedArchive, 'issues' | 'warnings' | 'is_new_node' | 'version_free'>

/** Says what the registry would say to a publication of the archive by this caller. */
const describePublication = async (
  deps: CheckArchiveDeps,
  { project, ...read }: ReadArchive,
  { query, caller }: Asked,
): Promise<Publication> => {
  const { name, icon, banner_url } = project
  const node = { name, icon, banner_url }
  const { node_id: nodeId, version } = { ...project, ...query }
  const { publicUrl, outbound } = deps
  const find = (address: string) => outbound.validateUrl(address).rejected
  const warnings = [...read.warnings, ...pictureWarnings(node, { find, publicUrl }, '/node')]
  const issues: string[] = []
  if (nodeId === undefined) issues.push(NAMELESS)
  if (version === undefined) issues.push(UNNUMBERED)
  if (nodeId === undefined || version === undefined) return { issues, warnings }
  const unfit = validatePublish({ node, node_version: { version } }, { nodeId })
  issues.push(...unfit.map(({ message }) => message))
  const publisherId = query.publisher_id ?? caller.token?.publisherId ?? project.publisher_id
  if (publisherId === undefined) issues.push(UNPUBLISHED)
  if (publisherId === undefined || unfit.length > 0) return { issues, warnings }
  try {
    const found = await findNumber(deps, { nodeId, version, publisherId, caller })
    return { warnings, ...found, issues: [...issues, ...found.issues] }
  } catch (error) {
    if (!(error instanceof ApiError) || error.status >= 500) throw error
    return { issues: [...issues, error.message], warnings }
  }
}

const NAMELESS = 'No pack is named: [project] name in pyproject.toml, or ?node_id.'
const UNNUMBERED = 'No version is named: [project] version in pyproject.toml, or ?version.'
const UNPUBLISHED = 'No publisher is named: PublisherId in pyproject.toml, or ?publisher_id.'

interface Wanted {
  nodeId: string
  version: string
  publisherId: string
  caller: Caller
}

/** Throws the 403 or 404 of a publication. */
const findNumber = async (
  deps: CheckArchiveDeps,
  { nodeId, version, publisherId, caller }: Wanted,
): Promise<Omit<Publication, 'warnings'>> => {
  const { sql, publicUrl } = deps
  const { token } = caller
  if (token) requirePublishing(token, nodeId)
  if (token && token.publisherId !== publisherId.toLowerCase())
    throw errors.tokenScopeInsufficient('is one of another publisher')
  const { node } = await getPublishPlace(deps, { publisherId, nodeId, caller, token })
  if (node?.status === 'NodeStatusDeleted') throw errors.nodeDeleted(node.id)
  const number = parseVersionNumber(version)
  if (!number) throw apiError('version_invalid')
  const taken = node && (await withinDeadline(sql, findTakenNumber(sql, node.id, number)))
  if (!taken) return { is_new_node: node === undefined, version_free: true, issues: [] }
  const exists = makeVersionExists(taken, { nodeId: node.id, asked: number.version, publicUrl })
  return { is_new_node: false, version_free: false, issues: [exists.message] }
}
