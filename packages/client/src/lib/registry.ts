import type { paths } from '../generated/openapi.ts'
import { requireHeader, toSegment } from './argument.ts'
import { requireSource } from './bytes.ts'
import type { UploadSource } from './bytes.ts'
import { follow } from './follow.ts'
import type { Followed, FollowOptions } from './follow.ts'
import { responseOf, toInit } from './http.ts'
import type { Http } from './http.ts'
import { readWhole } from './pause.ts'
import type { ReadOptions } from './tasks.ts'
import { putToLink, sendBytes } from './upload.ts'

type Query<Path extends keyof paths> = paths[Path] extends {
  get: { parameters: { query?: infer Wanted } }
}
  ? NonNullable<Wanted>
  : never
type PublishBody =
  paths['/publishers/{publisherId}/nodes/{nodeId}/versions']['post']['requestBody']['content']['application/json']
type ReviewBody =
  paths['/nodes/{nodeId}/reviews/mine']['put']['requestBody']['content']['application/json']
type NodeBody =
  paths['/publishers/{publisherId}/nodes/{nodeId}']['put']['requestBody']['content']['application/json']
type VersionBody =
  paths['/publishers/{publisherId}/nodes/{nodeId}/versions/{versionId}']['put']['requestBody']['content']['application/json']
type WorkflowBody<Path extends '/workflows/resolve' | '/workflows/check'> =
  paths[Path]['post']['requestBody']['content']['application/json']
export type NodeVersion =
  paths['/nodes/{nodeId}/versions/{version}']['get']['responses'][200]['content']['application/json']

type CheckRoute = paths['/registry/check']['post']
/** Everything that a publication of an archive would say. */
export type CheckedArchive = CheckRoute['responses'][200]['content']['application/json']

export interface CheckOptions {
  /** A personal access token to publish, where the client has no credential. */
  token?: string | undefined
  signal?: AbortSignal | undefined
}

/** Decision of the service: `state` is `active` when the version can be installed. */
export interface Verdict {
  state: 'active' | 'flagged' | 'banned' | 'deleted'
  /** Sentence that says why. */
  reason: string
  /** Notes on what does not stand in the way: host nodes that were not read, another version that stays the latest. */
  warnings: string[]
  version: NodeVersion
}

export interface VerdictOptions extends FollowOptions {
  /** Called at each step: `publishing`, `uploading`, then the version's status. */
  onStep?: (step: string) => void
}

export interface Publication {
  publisherId: string
  nodeId: string
  /** A personal access token of the publisher, or what trusted publishing gave in its place. */
  token: string
  version: PublishBody['node_version']
  /** Members of the node to set; absent ones stay as they are. */
  node?: PublishBody['node']
  /** The zip. */
  archive: UploadSource
}

/** The registry: reads, and the publication of a pack. */
export const makeRegistry = (http: Http) => {
  const { GET, POST, PUT, DELETE } = http.routes
  const own = '/publishers/{publisherId}/nodes/{nodeId}'
  const anyVersion = '/nodes/{nodeId}/versions/{version}'

  /** Waits until a version is decided on and its host nodes are read. */
  const waitForVerdict = (
    nodeId: string,
    version: string,
    options: VerdictOptions = {},
  ): Promise<Verdict> => waitAs(http, { nodeId, version }, options)

  /** Publishes a version, uploads its archive, and waits for the verdict. */
  const publish = async (
    { publisherId, nodeId, token, version, node = {}, archive }: Publication,
    options: VerdictOptions = {},
  ): Promise<Verdict> => {
    const { onStep, signal } = options
    requireSource('archive', archive)
    onStep?.('publishing')
    const published = await responseOf(
      POST('/publishers/{publisherId}/nodes/{nodeId}/versions', {
        ...toInit(options, { path: { publisherId, nodeId } }),
        body: { personal_access_token: requireHeader('token', token), node, node_version: version },
      }),
    )
    onStep?.('uploading')
    await putToLink(http, published.signedUrl, { source: archive, signal })
    // What publishes without another credential also reads what it has published.
    const reader = http.hasCredential ? http : http.withToken(token)
    const { version: number } = published.node_version
    const verdict = await waitAs(reader, { nodeId, version: number }, options)
    return { ...verdict, warnings: [...(published.warnings ?? []), ...verdict.warnings] }
  }

  /** Asks what a publication of an archive, a zip, would say. Nothing of it is kept. */
  const checkArchive = async (
    source: UploadSource,
    query: NonNullable<CheckRoute['parameters']['query']> = {},
    { token, signal }: CheckOptions = {},
  ): Promise<CheckedArchive> => {
    const sender = http.hasCredential || token === undefined ? http : http.withToken(token)
    const path = `/registry/check?${new URLSearchParams(query).toString()}`
    const headers = { 'content-type': 'application/zip' }
    const response = await sendBytes(sender, { source, signal }, async (init) =>
      readWhole(await sender.send(path, { ...init, method: 'POST', headers })),
    )
    return (await response.json()) as CheckedArchive
  }

  return {
    publish,
    checkArchive,
    waitForVerdict,
    searchNodes: (query: Query<'/nodes/search'> = {}, options: ReadOptions = {}) =>
      responseOf(GET('/nodes/search', toInit(options, { query }))),
    /** Changes what the registry says of a node; absent members stay. */
    editNode: (publisherId: string, nodeId: string, body: NodeBody, options: ReadOptions = {}) =>
      responseOf(PUT(own, { ...toInit(options, { path: { publisherId, nodeId } }), body })),
    /** Sets the changelog of a version, or that it is deprecated. */
    editVersion: (
      publisherId: string,
      nodeId: string,
      version: string,
      body: VersionBody,
      options: ReadOptions = {},
    ) => {
      const init = toInit(options, { path: { publisherId, nodeId, versionId: version } })
      return responseOf(PUT(`${own}/versions/{versionId}`, { ...init, body }))
    },
    deleteVersion: async (
      publisherId: string,
      nodeId: string,
      version: string,
      options: ReadOptions = {},
    ): Promise<void> => {
      const init = toInit(options, { path: { publisherId, nodeId, versionId: version } })
      await DELETE(`${own}/versions/{versionId}`, init)
    },
    /** Finds the packs that a saved workflow needs. */
    resolveWorkflow: (body: WorkflowBody<'/workflows/resolve'>, options: ReadOptions = {}) =>
      responseOf(POST('/workflows/resolve', { ...toInit(options), body })),
    /** Says what updates of packs do to a workflow. */
    checkWorkflow: (body: WorkflowBody<'/workflows/check'>, options: ReadOptions = {}) =>
      responseOf(POST('/workflows/check', { ...toInit(options), body })),
    readNode: (nodeId: string, options: ReadOptions = {}) =>
      responseOf(GET('/nodes/{nodeId}', ofNode(options, nodeId))),
    listVersions: (nodeId: string, options: ReadOptions = {}) =>
      responseOf(GET('/nodes/{nodeId}/versions', ofNode(options, nodeId))),
    readVersion: (nodeId: string, version: string, options: ReadOptions = {}) =>
      responseOf(GET(anyVersion, ofVersion(options, nodeId, version))),
    /** Names the version to install, the latest of the channel unless named, and counts a download. */
    install: (
      nodeId: string,
      query: Query<'/nodes/{nodeId}/install'> = {},
      options: ReadOptions = {},
    ) => responseOf(GET('/nodes/{nodeId}/install', toInit(options, { path: { nodeId }, query }))),
    listHostNodes: (nodeId: string, version: string, options: ReadOptions = {}) =>
      responseOf(GET(`${anyVersion}/host-nodes`, ofVersion(options, nodeId, version))),
    /** Lists the reviews of a node, the newest first unless asked otherwise. */
    listReviews: (
      nodeId: string,
      query: Query<'/nodes/{nodeId}/reviews'> = {},
      options: ReadOptions = {},
    ) => responseOf(GET('/nodes/{nodeId}/reviews', toInit(options, { path: { nodeId }, query }))),
    /** Writes the caller's one review of a node, or edits it: an absent text is kept, an empty one clears it. */
    review: (nodeId: string, body: ReviewBody, options: ReadOptions = {}) =>
      responseOf(PUT('/nodes/{nodeId}/reviews/mine', { ...ofNode(options, nodeId), body })),
    /** Reads the findings of the checks; the places are for members of the publisher. */
    readFindings: (nodeId: string, version: string, options: ReadOptions = {}) =>
      responseOf(GET(`${anyVersion}/findings`, ofVersion(options, nodeId, version))),
  }
}

const waitAs = async (
  reader: Http,
  { nodeId, version }: { nodeId: string; version: string },
  { onStep, ...options }: VerdictOptions,
): Promise<Verdict> => {
  const path = `/nodes/${toSegment(nodeId)}/versions/${toSegment(version)}`
  const followed: Followed<Verdict> = {
    streamPath: `${path}/stream`,
    findStatusPath: () => Promise.resolve(path),
    readEnd: ({ data }) => toVerdict(data as NodeVersion),
    onEvent: ({ data }) => onStep?.(statusWord(data as NodeVersion)),
  }
  return await follow(reader, followed, options)
}

const ofNode = (options: ReadOptions, nodeId: string) => toInit(options, { path: { nodeId } })
const ofVersion = (options: ReadOptions, nodeId: string, version: string) =>
  toInit(options, { path: { nodeId, version } })
const statusWord = ({ status }: NodeVersion): string => status.replace('NodeVersionStatus', '')

/** True when the number of a version is free, because its archive was rejected and nobody could have it. */
export const isFreeAgain = (version: NodeVersion): boolean =>
  version.status === 'NodeVersionStatusFlagged' &&
  (version.host_node_extract_reason ?? '').startsWith('archive_')

const toVerdict = (version: NodeVersion): Verdict | undefined => {
  const state = statusWord(version).toLowerCase()
  const isRead = !['pending', 'reported'].includes(version.host_node_extract_status)
  if (state === 'pending' || !isRead) return undefined
  const { host_node_extract_reason: code, host_node_extract_advice: advice } = version
  const warnings = code ? [`the host nodes were not read (${code}): ${advice}`] : []
  return { state: state as Verdict['state'], reason: version.status_reason, warnings, version }
}
