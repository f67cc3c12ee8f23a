import type { paths } from '../generated/openapi.ts'
import { requireHeader, toSegment } from './argument.ts'
import type { UploadSource } from './bytes.ts'
import { follow } from './follow.ts'
import type { Followed, FollowOptions } from './follow.ts'
import { responseOf } from './http.ts'
import type { Http } from './http.ts'
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
    onStep?.('publishing')
    const published = await responseOf(
      POST('/publishers/{publisherId}/nodes/{nodeId}/versions', {
        params: { path: { publisherId, nodeId } },
        body: { personal_access_token: requireHeader('token', token), node, node_version: version },
        signal: signal ?? null,
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
    const response = await sendBytes(sender, { source, signal }, (init) =>
      sender.send(path, { ...init, method: 'POST', headers }),
    )
    return (await response.json()) as CheckedArchive
  }

  return {
    publish,
    checkArchive,
    waitForVerdict,
    searchNodes: (query: Query<'/nodes/search'> = {}) =>
      responseOf(GET('/nodes/search', { params: { query } })),
    /** Changes what the registry says of a node; absent members stay. */
    editNode: (publisherId: string, nodeId: string, body: NodeBody) =>
      responseOf(PUT(own, { params: { path: { publisherId, nodeId } }, body })),
    /** Sets the changelog of a version, or that it is deprecated. */
    editVersion: (publisherId: string, nodeId: string, version: string, body: VersionBody) => {
      const params = { path: { publisherId, nodeId, versionId: version } }
      return responseOf(PUT(`${own}/versions/{versionId}`, { params, body }))
    },
    deleteVersion: async (publisherId: string, nodeId: string, version: string): Promise<void> => {
      const params = { path: { publisherId, nodeId, versionId: version } }
      await DELETE(`${own}/versions/{versionId}`, { params })
    },
    /** Finds the packs that a saved workflow needs. */
    resolveWorkflow: (body: WorkflowBody<'/workflows/resolve'>) =>
      responseOf(POST('/workflows/resolve', { body })),
    /** Says what updates of packs do to a workflow. */
    checkWorkflow: (body: WorkflowBody<'/workflows/check'>) =>
      responseOf(POST('/workflows/check', { body })),
    readNode: (nodeId: string) => responseOf(GET('/nodes/{nodeId}', ofNode(nodeId))),
    listVersions: (nodeId: string) => responseOf(GET('/nodes/{nodeId}/versions', ofNode(nodeId))),
    readVersion: (nodeId: string, version: string) =>
      responseOf(GET('/nodes/{nodeId}/versions/{version}', ofVersion(nodeId, version))),
    /** Names the version to install, the latest of the channel unless named, and counts a download. */
    install: (nodeId: string, query: Query<'/nodes/{nodeId}/install'> = {}) =>
      responseOf(GET('/nodes/{nodeId}/install', { params: { path: { nodeId }, query } })),
    listHostNodes: (nodeId: string, version: string) =>
      responseOf(GET('/nodes/{nodeId}/versions/{version}/host-nodes', ofVersion(nodeId, version))),
    /** Lists the reviews of a node, the newest first unless asked otherwise. */
    listReviews: (nodeId: string, query: Query<'/nodes/{nodeId}/reviews'> = {}) =>
      responseOf(GET('/nodes/{nodeId}/reviews', { params: { path: { nodeId }, query } })),
    /** Writes the caller's one review of a node, or edits it: an absent text is kept, an empty one clears it. */
    review: (nodeId: string, body: ReviewBody) =>
      responseOf(PUT('/nodes/{nodeId}/reviews/mine', { ...ofNode(nodeId), body })),
    /** Reads the findings of the checks; the places are for members of the publisher. */
    readFindings: (nodeId: string, version: string) =>
      responseOf(GET('/nodes/{nodeId}/versions/{version}/findings', ofVersion(nodeId, version))),
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

const ofNode = (nodeId: string) => ({ params: { path: { nodeId } } })
const ofVersion = (nodeId: string, version: string) => ({ params: { path: { nodeId, version } } })
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
