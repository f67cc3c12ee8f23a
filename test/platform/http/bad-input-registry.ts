import type { Signer } from '../../../src/platform/adapters/signing.ts'
import type { Service } from '../../support/service.ts'
import { makeZip } from '../../support/zip.ts'
import { expectStatus } from '../../support/client.ts'
import { error, INVALID, type Row, type World } from './bad-input-support.ts'
import { makeRegistry, type Owned } from '../../registry/http/registry-support.ts'

/** Contents of the registry before the first row. All but `others` is the caller's. */
export interface RegistryWorld {
  own: Owned
  others: Owned
  /** A version of `tools` that is active. */
  activeId: string
  /** Paths of links for uploads. */
  links: UploadLinks
}

interface UploadLinks {
  /** Link of a version that awaits its archive. */
  open: string
  /** Link of the same, for at most 100 bytes. */
  small: string
  /** Link of the same, expired. */
  late: string
  /** Links of a version whose archive has been accepted, and of one that is deleted. */
  accepted: string
  deleted: string
}

/** Makes it; the service has `root` among its platform admins and signs as `signer` does. */
export const makeRegistryWorld = async (
  service: Service,
  signer: Signer,
): Promise<RegistryWorld> => {
  const registry = makeRegistry(service)
  const own = await registry.addPublisher({ id: 'own', user: 'mallory' })
  const others = await registry.addPublisher({ id: 'others', user: 'alice' })
  const addNode = async ({ path, owner }: Owned, id: string) =>
    expectStatus(await owner.post(`${path}/nodes`, { id }), 201)
  await addNode(own, 'gone')
  await addNode(others, 'theirs')
  const { id: activeId, version } = await own.addActive({ nodeId: 'tools' })
  const nodes = { success: true, nodes: { Known: {} } }
  expectStatus(await own.owner.post(`${version}/host-nodes`, nodes), 204)
  const deleted = await own.addActive({ nodeId: 'tools', version: '0.1.0' })
  await own.owner.delete(deleted.ownVersion)
  const { id: awaiting } = await own.addVersion({ nodeId: 'tools', version: '2.0.0' })
  expectStatus(await own.owner.delete('/publishers/own/nodes/gone'), 204)
  const link = (id: string, { seconds = 3600, max = ARCHIVE_MAX_BYTES } = {}): string => {
    const expires = Math.floor(Date.now() / 1000) + seconds
    const { pathname, search } = new URL(signer.signArchive({ id, expires, max }))
    return pathname + search
  }
  const links = {
    open: link(awaiting),
    small: link(awaiting, { max: 100 }),
    late: link(awaiting, { seconds: -1 }),
    accepted: link(activeId),
    deleted: link(deleted.id),
  }
  return { own, others, activeId, links }
}

/** ARCHIVE_MAX_BYTES unless set. */
const ARCHIVE_MAX_BYTES = 256 * 2 ** 20

/** A body of the publish route, with whatever is to be wrong with it. */
const publishing =
  (more: object = {}, token: (world: RegistryWorld) => string = ({ own }) => own.token) =>
  ({ registry }: World): object => ({
    node: {},
    node_version: { version: '3.0.0' },
    personal_access_token: token(registry),
    ...more,
  })

const PUBLISH = '/publishers/own/nodes/tools/versions'
const HOST_NODES = '/nodes/tools/versions/2.0.0/host-nodes'
const VERSION = ({ registry: { activeId } }: World): string =>
  `/publishers/own/nodes/tools/versions/${activeId}`

const noNode = error(404, 'node_not_found')
const noVersion = error(404, 'version_not_found')
const tooLarge = error(413, 'body_too_large')
const FORBIDDEN = error(403, 'forbidden')

const rowsOf = (
  row: number,
  common: Partial<Row>,
  cases: readonly (Pick<Row, 'what'> & Partial<Row>)[],
): Row[] => cases.map((each) => ({ row, ...INVALID, ...common, ...each }))

const ENDED = { name: 'x', expires_at: '2020-01-01T00:00:00Z' }

const publisherRows: Row[] = [
  ...rowsOf(29, FORBIDDEN, [
    { what: 'PUT of another owner’s', method: 'PUT', path: '/publishers/others', body: {} },
    { what: 'a new token of it', path: '/publishers/others/tokens', body: { name: 'x' } },
    { what: 'a new node of it', path: '/publishers/others/nodes', body: { id: 'fresh' } },
    { what: 'an invitation', path: '/admin/invitations', body: { email: 'x@example.com' } },
  ]),
  ...rowsOf(70, { path: '/admin/invitations', field: '/email' }, [
    { what: 'an invitation of no address', body: { email: 'nobody' } },
    {
      what: 'an invitation of an address with a control character',
      body: { email: 'a\u0001@example.com' },
    },
    { what: 'an invitation without an address', body: {} },
  ]),
  ...rowsOf(69, { path: '/publishers', field: '/id' }, [
    ...['Acme', '1a', 'a_b', 'a'.repeat(65), 'admin', ''].map((id) => ({
      what: `publisher id "${id.slice(0, 10)}"`,
      body: { id },
    })),
    { what: 'no publisher id', body: {} },
    { what: 'publisher id null', body: { id: null } },
  ]),
  ...rowsOf(69, { path: '/publishers', status: 409, error: 'publisher_exists' }, [
    { what: 'publisher id that is taken', body: { id: 'others' } },
  ]),
  ...rowsOf(70, { path: '/publishers/own/tokens' }, [
    { what: 'token without name', body: {}, field: '/name' },
    { what: 'token with an empty name', body: { name: '' }, field: '/name' },
    { what: 'token with a name of 129', body: { name: 'x'.repeat(129) }, field: '/name' },
    { what: 'token that has ended', body: ENDED, field: '/expires_at' },
  ]),
]

const SCRIPT = { id: 'x', icon: 'javascript:1' }
const MISMATCH = { status: 400, error: 'id_mismatch', field: '/id' } as const

const nodeRows: Row[] = [
  ...rowsOf(
    71,
    { path: '/publishers/own/nodes', field: '/id' },
    ['-a', 'a b', '../x', 'a'.repeat(101), 'search'].map((id) => ({
      what: `node id "${id.slice(0, 10)}"`,
      body: { id },
    })),
  ),
  ...rowsOf(72, { path: '/publishers/own/nodes', status: 409, error: 'node_exists' }, [
    { what: 'node id that is taken', body: { id: 'tools' } },
    { what: 'the same in another case', body: { id: 'TOOLS' } },
    { what: 'the same, of another publisher', body: { id: 'theirs' } },
    { what: 'node id of a deleted node', body: { id: 'gone' }, error: 'node_deleted' },
  ]),
  ...rowsOf(73, { path: '/publishers/own/nodes' }, [
    { what: 'tags that are a text', body: { id: 'x', tags: 'a' }, field: '/tags' },
    { what: 'icon that is a script', body: SCRIPT, error: 'url_refused', field: '/icon' },
  ]),
  ...rowsOf(74, { method: 'PUT', status: 404, error: 'node_not_found', body: {} }, [
    { what: 'another id', path: '/publishers/own/nodes/tools', body: { id: 'other' }, ...MISMATCH },
    { what: 'PUT of an unknown node', path: '/publishers/own/nodes/none' },
    { what: 'PUT of another publisher’s', path: '/publishers/own/nodes/theirs' },
  ]),
]

const versionRows: Row[] = [
  ...rowsOf(76, { path: PUBLISH, status: 403, error: 'invalid_personal_access_token' }, [
    {
      what: 'no personal access token',
      body: { node: {}, node_version: { version: '3.0.0' } },
      ...INVALID,
      field: '/personal_access_token',
    },
    { what: 'a wrong one', body: publishing({}, () => 'x') },
    { what: 'another publisher’s', body: publishing({}, ({ others }) => others.token) },
  ]),
  ...rowsOf(77, { status: 403, error: 'node_owned_by_other_publisher' }, [
    {
      what: 'publishing into another publisher’s node',
      path: '/publishers/own/nodes/theirs/versions',
      body: publishing(),
    },
  ]),
  ...rowsOf(
    78,
    { path: PUBLISH, error: 'version_invalid', field: '/node_version/version' },
    ['1.0rc1', 'x', '1.2.3.4', `1.0.0-${'a'.repeat(251)}`, ''].map((version) => ({
      what: `version "${version.slice(0, 10)}"`,
      body: publishing({ node_version: { version } }),
    })),
  ),
  ...rowsOf(78, { path: PUBLISH, status: 409, error: 'version_exists' }, [
    { what: 'version that was uploaded', body: publishing({ node_version: { version: '1.0.0' } }) },
    { what: 'version that was deleted', body: publishing({ node_version: { version: '0.1.0' } }) },
  ]),
  ...rowsOf(79, { path: PUBLISH }, [
    { what: 'no node', body: publishing({ node: undefined }), field: '/node' },
    { what: 'no version', body: publishing({ node_version: undefined }), field: '/node_version' },
  ]),
  ...rowsOf(79, { method: 'PUT', path: VERSION }, [
    { what: 'deprecated that is a text', body: { deprecated: 'yes' }, field: '/deprecated' },
    {
      what: 'PUT of a version that is neither id nor number',
      path: `${PUBLISH}/x`,
      body: {},
      ...noVersion,
    },
  ]),
]

const pagesOf = (path: string, size: string, max: number) =>
  [
    ...['-1', 'abc', '1.5', '1e9', '1&page=2', ''].map((page) => `page=${page}`),
    ...['0', String(max + 1)].map((value) => `${size}=${value}`),
  ].map((query) => ({ what: `${path}?${query}`, path: `${path}?${query}` }))

const readRows: Row[] = [
  ...rowsOf(80, { method: 'GET' }, [
    ...pagesOf('/nodes', 'limit', 1000),
    ...pagesOf('/nodes/search', 'limit', 100),
    ...pagesOf('/versions', 'pageSize', 100),
    ...pagesOf('/users/publishers/', 'limit', 1000),
    ...pagesOf('/publishers', 'limit', 1000),
    ...pagesOf('/publishers/own/nodes', 'limit', 1000),
    ...pagesOf('/publishers/own/nodes/v2', 'limit', 100),
    ...pagesOf(HOST_NODES, 'limit', 1000),
  ]),
  ...rowsOf(81, { method: 'GET', field: '?search' }, [
    { what: 'search of 201 characters', path: `/nodes/search?search=${'x'.repeat(201)}` },
    { what: 'search with NUL', path: '/nodes/search?search=a%00b' },
  ]),
  ...rowsOf(81, { method: 'GET' }, [
    {
      what: 'NUL elsewhere',
      path: '/nodes/search?host_node_search=%00',
      field: '?host_node_search',
    },
    { what: 'system with NUL', path: '/nodes/search?supported_os=%00', field: '?supported_os' },
    {
      what: 'flag that is none',
      path: '/versions?review_requested=maybe',
      field: '?review_requested',
    },
  ]),
  ...rowsOf(82, { method: 'GET' }, [
    { what: 'unknown status', path: '/nodes/tools/versions?statuses=Active', field: '?statuses' },
    { what: 'versions of an unknown node', path: '/nodes/none/versions', ...noNode },
  ]),
]

const MANY = Object.fromEntries(Array.from({ length: 5001 }, (_, at) => [`n${at}`, {}]))

const registrationRows: Row[] = [
  ...rowsOf(85, { credential: false, path: HOST_NODES }, [
    { what: 'nodes that are a list', body: { nodes: [] }, field: '/nodes' },
    { what: '5,001 nodes', body: { nodes: MANY }, field: '/nodes' },
    { what: 'success that is a text', body: { success: 'true', nodes: {} }, field: '/success' },
    {
      what: 'output_is_list that is a text',
      body: { nodes: { a: { output_is_list: 'x' } } },
      field: '/nodes/a/output_is_list',
    },
    {
      what: '17 MiB',
      raw: `POST ${HOST_NODES} HTTP/1.1\r\nHost: kiln\r\nContent-Type: application/json\r\nContent-Length: ${17 * 2 ** 20}\r\n\r\n{`,
      ...tooLarge,
    },
  ]),
]

const ZIP = Uint8Array.from(makeZip('NODE_CLASS_MAPPINGS = {}'))

const linkOf =
  (name: keyof UploadLinks, change: (link: string) => string = (link) => link) =>
  ({ registry: { links } }: World): string =>
    change(links[name])

/** A PUT whose head ends with these lines, and what is sent after them. */
const rawPut =
  (name: keyof UploadLinks, [lines, body]: [lines: string, body: string]) =>
  (world: World): string =>
    `PUT ${linkOf(name)(world)} HTTP/1.1\r\nHost: kiln\r\n${lines}\r\n\r\n${body}`

const otherLetter = (letter: string): string => (letter === 'A' ? 'B' : 'A')

const PUT = { method: 'PUT', credential: false, body: ZIP } as const

const uploadRows: Row[] = [
  ...rowsOf(86, { ...PUT, status: 403, error: 'signature_invalid' }, [
    { what: 'PUT without a signature', path: linkOf('open', (link) => link.replace(/\?.*/, '')) },
    {
      what: 'a signature with one character changed',
      path: linkOf('open', (link) => link.replace(/.$/, otherLetter)),
    },
    {
      what: 'a later expiry',
      path: linkOf('open', (link) => link.replace('expires=', 'expires=9')),
    },
    { what: 'a higher maximum', path: linkOf('small', (link) => link.replace('max=', 'max=9')) },
    {
      what: 'the link of another version',
      path: ({ registry: { links } }) =>
        links.open.replace(/^[^?]*/, links.accepted.replace(/\?.*/, '')),
    },
    { what: 'an expired link', path: linkOf('late'), error: 'upload_expired' },
  ]),
  ...rowsOf(87, tooLarge, [
    {
      what: 'longer than the maximum, by its Content-Length',
      raw: rawPut('open', [`Content-Length: ${ARCHIVE_MAX_BYTES + 1}`, 'PK\x03\x04']),
    },
  ]),
  ...rowsOf(89, { ...PUT, status: 409 }, [
    { what: 'the archive of a deleted version', path: linkOf('deleted'), error: 'upload_closed' },
  ]),
]

export const REGISTRY_ROWS: readonly Row[] = [
  ...publisherRows,
  ...nodeRows,
  ...versionRows,
  ...readRows,
  ...registrationRows,
  ...uploadRows,
]
