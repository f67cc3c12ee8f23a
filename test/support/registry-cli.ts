import assert from 'node:assert/strict'

import { send, type Sent, type SentResponse } from './request.ts'
import { OWN_NAMES, type WireNames } from './wire-names.ts'

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
const emptyIn = ({ hostVersion, frontendVersion }: WireNames) => ({
  supported_os: [],
  supported_accelerators: [],
  [hostVersion]: '',
  [frontendVersion]: '',
})

const publishBody = (
  { nodeId, token, changelog, ...publishing }: CliPublishing,
  names: WireNames,
): object => {
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
      ...emptyIn(names),
    },
    node_version: {
      version,
      dependencies: [],
      ...emptyIn(names),
      ...(changelog === undefined ? {} : { changelog }),
    },
  }
}

/**
 * The publishing tool and the catalogue's reader as they are on the wire: their bodies and headers, member by member, and
 * no credential but `password`, which a user's ~/.netrc gives to what is asked of `baseUrl`, an archive excepted. `baseUrl`
 * may name the host in words.
 */
export const makeCli = (baseUrl: string, names = OWN_NAMES, password: Sent['headers'] = {}) => {
  const ask = (url: string, { headers, ...sent }: Sent = {}, body?: Buffer) =>
    send(url, { ...sent, headers: { ...ALWAYS, ...headers } }, body)
  const get = (path: string) => ask(baseUrl + path, { headers: password })

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

  const tryPublish = async (publishing: CliPublishing): Promise<SentResponse> => {
    const { publisherId, nodeId } = publishing
    const text = Buffer.from(JSON.stringify(publishBody(publishing, names)))
    const type = { 'content-type': 'application/json', 'content-length': text.length }
    const headers = { ...type, ...password }
    const path = `/publishers/${publisherId}/nodes/${nodeId}/versions`
    return await ask(baseUrl + path, { method: 'POST', headers }, text)
  }

  /** PUTs the archive; the tool takes no status but 200, tries once, and says nothing afterwards. */
  const upload = async (signedUrl: string, zip: Buffer): Promise<SentResponse> => {
    const headers = { 'content-type': 'application/zip', 'content-length': zip.length }
    const response = await ask(signedUrl, { method: 'PUT', headers }, zip)
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
    const archive = await ask(found.downloadUrl)
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
