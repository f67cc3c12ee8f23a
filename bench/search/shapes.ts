import type { Sql } from '../../src/db/client.ts'
import { call } from '../support/call.ts'
import type { HttpRequest } from './http-client.ts'
import type { Recorded } from './statements.ts'
import { wordOf } from './words.ts'

/** A kind of request, and requests of this kind that are sent in turn. */
export interface Shape {
  /** Of its figures. */
  name: string
  what: string
  requests: HttpRequest[]
  /** 200 unless given. */
  status?: number
  /** Done before each request and not timed; such a shape is measured one request at a time. */
  before?: () => Promise<void>
  /** Where the routes of the registry do not tell what a request leads to. */
  record?: (request: HttpRequest) => Promise<Recorded>
}

export const shape = (name: string, what: string, requests: HttpRequest[]): Shape => ({
  name,
  what,
  requests,
})

type Query = Record<string, string | number>

const get = (path: string, query: Query = {}): HttpRequest => {
  const text = new URLSearchParams(query as Record<string, string>).toString()
  return { path: text === '' ? path : `${path}?${text}` }
}
const search = (query: Query): HttpRequest => get('/nodes/search', query)

/** All shapes of a catalogue that is loaded. */
export const listShapes = async (sql: Sql, baseUrl: string): Promise<Shape[]> => {
  const reach = await readReach(sql)
  const nodes = await listSome(sql, reach.nodes)
  const others = await listSome(sql, reach.nodes, 1)
  return [
    ...searchShapes(sql, reach.deepest, nodes),
    ...listingShapes(reach, nodes),
    ...(await singleShapes(sql, baseUrl, { nodes, others })),
  ]
}

const searchShapes = (sql: Sql, deepest: number, nodes: readonly SomeNode[]): Shape[] => {
  const frequent = words(1, 10).map((word) => search({ search: word }))
  const pairs = words(20, 10).map((word, at) => search({ search: `${word} ${wordOf(80 + at)}` }))
  const ends = wordOf(2).slice(0, 2)
  return [
    shape(
      'rare',
      'a rare word',
      words(15_000, 20).map((word) => search({ search: word })),
    ),
    shape('frequent', 'a word in 80 % of nodes', [search({ search: wordOf(1) })]),
    shape(
      'frequent-deepest',
      'frequent words, deepest page',
      words(1, 12).map((word) => search({ search: word, page: deepest })),
    ),
    shape('two-words', 'two words', pairs),
    shape(
      'substring',
      'three characters within words',
      ['aki', 'ote', 'uni', 'emo', 'ira'].map((part) => search({ search: part })),
    ),
    shape('all', 'no term', [search({})]),
    shape('all-deepest', 'no term, deepest page', [search({ page: deepest })]),
    shape('support', 'os and accelerator', [
      search({ supported_os: 'posix :: linux', supported_accelerator: 'gpu :: nvidia cuda' }),
      search({ supported_os: 'macos', supported_accelerator: 'gpu :: apple metal' }),
      search({ supported_os: 'plan 9', supported_accelerator: 'npu :: huawei ascend' }),
    ]),
    shape(
      'repository',
      'a repository',
      nodes.map(({ id, repository }) =>
        search({ repository_url_search: id.endsWith('0') ? id : repository }),
      ),
    ),
    shape(
      'host-node',
      'a part of a host node name',
      words(300, 10).map((word) => search({ host_node_search: word + ends })),
    ),
    shape(
      'host-node-frequent',
      'a word in many host node names',
      words(1, 10).map((word) => search({ host_node_search: word })),
    ),
    {
      ...shape('first-count', 'frequent words after a change', frequent),
      before: async () => {
        // The text of a node, as its publisher changes it.
        await sql`
          with edited as (
            update node set author = md5(random()::text)
            where id = (select node_id from node_stats where listed order by created_at limit 1)
          )
          update listed_count set changes = changes + 1 where kind = 'node' and slot = 0
        `
      },
    },
  ]
}

const LIST_LIMIT = 10

const listingShapes = ({ nodes, changed }: Reach, some: readonly SomeNode[]): Shape[] => {
  const since = { timestamp: changed.toISOString(), limit: 100 }
  const flagged = ['eval of a variable', 'line 77', 'pickle, nodes/'].map((reason) =>
    get('/versions', { statuses: 'NodeVersionStatusFlagged', status_reason: reason }),
  )
  const ofNodes = some.map(({ id }) => get('/versions', { nodeId: id }))
  const last = get('/nodes', { page: Math.ceil(nodes / LIST_LIMIT) })
  return [
    shape('nodes.first', 'GET /nodes, first page', [get('/nodes')]),
    shape('nodes.last', 'GET /nodes, last page', [last]),
    shape('nodes.changed', 'GET /nodes, 100 changed since a time', [get('/nodes', since)]),
    shape('versions.all', 'GET /versions', [get('/versions')]),
    shape('versions.reason', 'GET /versions, Flagged with a reason', flagged),
    shape('versions.node', 'GET /versions of a node', ofNodes),
  ]
}

const singleShapes = async (
  sql: Sql,
  baseUrl: string,
  { nodes, others }: Record<'nodes' | 'others', readonly SomeNode[]>,
): Promise<Shape[]> => {
  const paths = nodes.map(({ id }) => `/nodes/${id}`)
  const tagged = await Promise.all(paths.map((path) => withTag(baseUrl, path)))
  const versionsOf = async (versions: number): Promise<HttpRequest[]> =>
    (await listByVersions(sql, versions)).map((id) => get(`/nodes/${id}/versions`))
  const installs = others.map(({ id }) => get(`/nodes/${id}/install`))
  const names = (await listHostNodes(sql)).map((name) =>
    get(`/host-nodes/${encodeURIComponent(name)}/node`),
  )
  return [
    shape(
      'node.full',
      'one node',
      paths.map((path) => get(path)),
    ),
    { ...shape('node.unchanged', 'one node, 304', tagged), status: 304 },
    shape('node.versions-10', 'versions of a node that has 10', await versionsOf(10)),
    shape('node.versions-500', 'versions of a node that has 500', await versionsOf(500)),
    shape('node.install', 'install, counted', installs),
    shape('bulk', '100 versions in bulk', [await makeBulk(sql)]),
    shape('class-name', 'host node name to node', names),
  ]
}

/** Words of so many ranks. */
const words = (from: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => wordOf(from + at))

interface Reach {
  nodes: number
  changed: Date
  deepest: number
}

/** What page × limit may be (SEARCH_MAX_DEPTH) with a limit of 10, the listed nodes, and since when 100 have changed. */
const readReach = async (sql: Sql): Promise<Reach> => {
  const [row] = await sql<Omit<Reach, 'deepest'>[]>`
    select count(*)::integer as nodes, (
        select n.updated_at from node n join node_stats s on s.node_id = n.id and s.listed
        order by n.updated_at desc offset 99 limit 1
      ) as changed
    from node_stats where listed
  `
  if (!row) throw new Error('an aggregate without a row')
  return { ...row, deepest: Math.min(1_000, Math.ceil(row.nodes / 10)) }
}

interface SomeNode {
  id: string
  repository: string
}

/** Listed nodes with a latest version, evenly from all; `offset` tells sets apart. */
const listSome = async (sql: Sql, nodes: number, offset = 0) =>
  await sql<SomeNode[]>`
    select id, repository from (
      select n.id, n.repository, row_number() over (order by n.created_at, n.id) as place
      from node n join node_stats s on s.node_id = n.id and s.listed
      where n.latest_version_id is not null
    ) listed
    where place % ${Math.floor(nodes / 50)}::integer = ${offset}::integer
    order by place limit 50
  `

const listByVersions = async (sql: Sql, versions: number): Promise<string[]> => {
  const rows = await sql<{ id: string }[]>`
    select node_id as id from version v join node_stats s using (node_id)
    where s.listed group by node_id having count(*) = ${versions} order by node_id limit 10
  `
  return rows.map(({ id }) => id)
}

const listHostNodes = async (sql: Sql): Promise<string[]> => {
  const rows = await sql<{ name: string }[]>`
    select name from (
      select name, row_number() over (order by name) as place
      from current_host_node h join node_stats s using (node_id) where s.listed
    ) named
    where place % 1000 = 0 limit 50
  `
  return rows.map(({ name }) => name)
}

const makeBulk = async (sql: Sql): Promise<HttpRequest> => {
  const asked = await sql<{ node_id: string; version: string }[]>`
    select v.node_id, v.version from version v order by v.id limit 100
  `
  return {
    method: 'POST',
    path: '/bulk/nodes/versions',
    body: JSON.stringify({ node_versions: asked }),
  }
}

/** A request of who has the answer already. */
const withTag = async (baseUrl: string, path: string): Promise<HttpRequest> => {
  const { etag } = await call(baseUrl + path)
  if (etag === null) throw new Error(`${path} has no ETag`)
  return { path, headers: { 'if-none-match': etag } }
}
