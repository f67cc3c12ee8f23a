import type { Sql } from '../../src/db/client.ts'
import type { HttpRequest } from './http-client.ts'
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
}

const get = (path: string): HttpRequest => ({ path })
const search = (query: Record<string, string | number | readonly string[]>): HttpRequest =>
  get(`/nodes/search?${toQuery(query)}`)

const toQuery = (query: Record<string, string | number | readonly string[]>): string =>
  new URLSearchParams(
    Object.entries(query).flatMap(([name, value]) =>
      [value].flat().map((item): [string, string] => [name, String(item)]),
    ),
  ).toString()

/** All shapes of a catalogue that is loaded. */
export const listShapes = async (sql: Sql, baseUrl: string): Promise<Shape[]> => [
  ...(await searchShapes(sql)),
  ...(await listingShapes(sql)),
  ...(await singleShapes(sql, baseUrl)),
]

const FREQUENT = wordOf(1)

const searchShapes = async (sql: Sql): Promise<Shape[]> => {
  const { deepest, nodes } = await readReach(sql)
  const parts = ['aki', 'ote', 'uni', 'emo', 'ira']
  return [
    {
      name: 'rare',
      what: 'a rare word',
      requests: range(15_000, 20).map((rank) => search({ search: wordOf(rank) })),
    },
    {
      name: 'frequent',
      what: 'a word in 80 % of nodes',
      requests: [search({ search: FREQUENT })],
    },
    {
      name: 'frequent-deepest',
      what: 'frequent words, deepest page',
      requests: range(1, 12).map((rank) => search({ search: wordOf(rank), page: deepest })),
    },
    {
      name: 'two-words',
      what: 'two words',
      requests: range(20, 10).map((rank) =>
        search({ search: `${wordOf(rank)} ${wordOf(rank + 60)}` }),
      ),
    },
    {
      name: 'substring',
      what: 'three characters within words',
      requests: parts.map((part) => search({ search: part })),
    },
    { name: 'all', what: 'no term', requests: [search({})] },
    {
      name: 'all-deepest',
      what: 'no term, deepest page',
      requests: [search({ page: deepest })],
    },
    {
      name: 'support',
      what: 'os and accelerator',
      requests: [
        search({ supported_os: 'posix :: linux', supported_accelerator: 'gpu :: nvidia cuda' }),
        search({ supported_os: 'macos', supported_accelerator: 'gpu :: apple metal' }),
        search({ supported_os: 'plan 9', supported_accelerator: ['npu :: huawei ascend'] }),
      ],
    },
    {
      name: 'repository',
      what: 'a repository',
      requests: (await listSome(sql, nodes)).map(({ id, repository }) =>
        search({ repository_url_search: id.endsWith('0') ? id : repository }),
      ),
    },
    {
      name: 'host-node',
      what: 'a part of a host node name',
      requests: range(300, 10).map((rank) =>
        search({ host_node_search: `${wordOf(rank)}${wordOf(2).slice(0, 2)}` }),
      ),
    },
    {
      name: 'host-node-frequent',
      what: 'a word in many host node names',
      requests: range(1, 10).map((rank) => search({ host_node_search: wordOf(rank) })),
    },
    {
      name: 'first-count',
      what: 'frequent words after a change',
      requests: range(1, 10).map((rank) => search({ search: wordOf(rank) })),
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

const listingShapes = async (sql: Sql): Promise<Shape[]> => {
  const { nodes, changed } = await readReach(sql)
  const some = await listSome(sql, nodes)
  return [
    { name: 'nodes.first', what: 'GET /nodes, first page', requests: [get('/nodes')] },
    {
      name: 'nodes.last',
      what: 'GET /nodes, last page',
      requests: [get(`/nodes?page=${Math.ceil(nodes / LIST_LIMIT)}`)],
    },
    {
      name: 'nodes.changed',
      what: 'GET /nodes, 100 changed since a time',
      requests: [get(`/nodes?${toQuery({ timestamp: changed.toISOString(), limit: 100 })}`)],
    },
    { name: 'versions.all', what: 'GET /versions', requests: [get('/versions')] },
    {
      name: 'versions.reason',
      what: 'GET /versions, Flagged with a reason',
      requests: ['eval of a variable', 'line 77', 'pickle, nodes/'].map((reason) =>
        get(
          `/versions?${toQuery({ statuses: 'NodeVersionStatusFlagged', status_reason: reason })}`,
        ),
      ),
    },
    {
      name: 'versions.node',
      what: 'GET /versions of a node',
      requests: some.map(({ id }) => get(`/versions?${toQuery({ nodeId: id })}`)),
    },
  ]
}

const singleShapes = async (sql: Sql, baseUrl: string): Promise<Shape[]> => {
  const { nodes } = await readReach(sql)
  const some = await listSome(sql, nodes)
  const paths = some.map(({ id }) => `/nodes/${id}`)
  return [
    { name: 'node.full', what: 'one node', requests: paths.map(get) },
    {
      name: 'node.unchanged',
      what: 'one node, 304',
      status: 304,
      requests: await Promise.all(paths.map(async (path) => await withTag(baseUrl, path))),
    },
    {
      name: 'node.versions-10',
      what: 'versions of a node that has 10',
      requests: (await listByVersions(sql, 10)).map((id) => get(`/nodes/${id}/versions`)),
    },
    {
      name: 'node.versions-500',
      what: 'versions of a node that has 500',
      requests: (await listByVersions(sql, 500)).map((id) => get(`/nodes/${id}/versions`)),
    },
    {
      name: 'node.install',
      what: 'install, counted',
      requests: (await listSome(sql, nodes, 1)).map(({ id }) => get(`/nodes/${id}/install`)),
    },
    {
      name: 'bulk',
      what: '100 versions in bulk',
      requests: [await makeBulk(sql)],
    },
    {
      name: 'class-name',
      what: 'host node name to node',
      requests: (await listHostNodes(sql)).map((name) =>
        get(`/host-nodes/${encodeURIComponent(name)}/node`),
      ),
    },
  ]
}

const range = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => from + at)

/** What page × limit may be (SEARCH_MAX_DEPTH) with a limit of 10, the listed nodes, and since when 100 have changed. */
const readReach = async (sql: Sql) => {
  const [row] = await sql<{ nodes: number; changed: Date }[]>`
    select count(*)::integer as nodes, (
        select n.updated_at from node n join node_stats s on s.node_id = n.id and s.listed
        order by n.updated_at desc offset 99 limit 1
      ) as changed
    from node_stats where listed
  `
  if (!row) throw new Error('an aggregate without a row')
  return { ...row, deepest: Math.min(1_000, Math.ceil(row.nodes / 10)) }
}

/** Listed nodes with a latest version, evenly from all; `offset` tells sets apart. */
const listSome = async (sql: Sql, nodes: number, offset = 0) =>
  await sql<{ id: string; repository: string }[]>`
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
  const answer = await fetch(baseUrl + path)
  await answer.arrayBuffer()
  const etag = answer.headers.get('etag')
  if (answer.status !== 200 || etag === null) throw new Error(`${path} has no ETag`)
  return { path, headers: { 'if-none-match': etag } }
}
