import assert from 'node:assert/strict'
import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'

import { PATIENCE_MS } from './patience.ts'

/** A response as the tool reads it, before it parses the body. */
export interface CliResult {
  status: number
  headers: IncomingHttpHeaders
  bytes: Buffer
  body: Record<string, unknown>
}

export interface CliVersion {
  id: string
  node_id: string
  version: string
  changelog?: string
  status: string
  status_reason: string
  createdAt: string
  downloadUrl?: string
}

export interface CliNode {
  id: string
  name: string
  description: string
  publisher: { id: string; name: string }
  latest_version?: CliVersion
}

export interface CliPublishing {
  publisherId: string
  nodeId: string
  token: string
  version?: string
  /** Sent only when the project file has one. */
  changelog?: string
  license?: string
}

/** Headers that the tool's HTTP library always sends. */
const ALWAYS = {
  accept: '*/*',
  'accept-encoding': 'gzip, deflate',
  'user-agent': 'python-requests',
}

/** Members that the project file does not give, in both objects of a publication. */
const EMPTY = {
  supported_os: [],
  supported_accelerators: [],
  supported_host_version: '',
  supported_host_frontend_version: '',
}

const publishBody = ({ nodeId, token, changelog, ...publishing }: CliPublishing): object => {
  const { version = '1.0.0', license = '{"file": "LICENSE"}' } = publishing
  return {
    personal_access_token: token,
    node: {
      id: nodeId,
      description: '',
      icon: '',
      name: '',
      license,
      repository: 'https://git.example.com/acme/tools',
      banner_url: '',
      ...EMPTY,
    },
    node_version: {
      version,
      dependencies: [],
      ...EMPTY,
      ...(changelog === undefined ? {} : { changelog }),
    },
  }
}

/**
 * The publishing tool and the catalogue's reader as they are on the wire: their bodies and headers, member by member, and
 * no credential. `baseUrl` may name the host in words.
 */
export const makeCli = (baseUrl: string) => {
  const get = (path: string) => send(baseUrl + path)

  /** Throws unless the status is exactly 201, as the tool does. */
  const publish = async (publishing: CliPublishing) => {
    const { status, bytes, body } = await tryPublish(publishing)
    assert.equal(status, 201, bytes.toString())
    type Published = { node_version: CliVersion; signedUrl: string }
    const { node_version: version, signedUrl } = body as Published
    assert.ok(version.id && version.version && signedUrl, 'what the tool goes on with')
    // It warns of a changelog that does not come back.
    assert.equal(version.changelog, publishing.changelog)
    return { version, signedUrl, body }
  }

  const tryPublish = async (publishing: CliPublishing): Promise<CliResult> => {
    const { publisherId, nodeId } = publishing
    const text = JSON.stringify(publishBody(publishing))
    return await send(`${baseUrl}/publishers/${publisherId}/nodes/${nodeId}/versions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) },
      body: Buffer.from(text),
    })
  }

  /** PUTs the archive; the tool takes no status but 200, tries once, and says nothing afterwards. */
  const upload = async (signedUrl: string, zip: Buffer): Promise<CliResult> => {
    const response = await send(signedUrl, {
      method: 'PUT',
      headers: { 'content-type': 'application/zip', 'content-length': zip.length },
      body: zip,
    })
    assert.equal(response.status, 200, response.bytes.toString())
    return response
  }

  /** Reads which version to install, then its archive. Throws unless both are 200. */
  const install = async (nodeId: string, version?: string) => {
    const query = version === undefined ? '' : `?version=${encodeURIComponent(version)}`
    const { status, bytes, body } = await get(`/nodes/${nodeId}/install${query}`)
    assert.equal(status, 200, bytes.toString())
    const found = body as unknown as CliVersion
    assert.ok(found.id && found.version && found.downloadUrl, 'what the tool goes on with')
    const archive = await send(found.downloadUrl)
    assert.equal(archive.status, 200, archive.bytes.toString())
    return { version: found, archive }
  }

  /** Every node there is, page by page until `totalPages`, and how many pages were read. */
  const walk = async (query = '') => {
    const nodes: CliNode[] = []
    for (let page = 1; ; page += 1) {
      const { status, body } = await get(`/nodes?page=${page}&limit=30${query}`)
      assert.equal(status, 200)
      nodes.push(...(body['nodes'] as CliNode[]))
      if (page >= Number(body['totalPages'])) return { nodes, pages: page }
    }
  }

  return { get, publish, tryPublish, upload, install, walk }
}

interface Sent {
  method?: string
  headers?: Record<string, string | number>
  body?: Buffer
}

const send = async (
  url: string,
  { method = 'GET', headers = {}, body }: Sent = {},
): Promise<CliResult> => {
  const signal = AbortSignal.timeout(PATIENCE_MS)
  const asked = request(url, { method, headers: { ...ALWAYS, ...headers }, agent: false, signal })
  asked.end(body)
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  const bytes = await buffer(response)
  const { statusCode: status = 0, headers: responded } = response
  const isJson = responded['content-type']?.startsWith('application/json') ?? false
  const json = isJson ? (JSON.parse(bytes.toString()) as CliResult['body']) : {}
  return { status, headers: responded, bytes, body: json }
}
