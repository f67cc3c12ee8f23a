import type { Sql } from '../../src/platform/db/client.ts'
import type { HttpRequest } from './http-client.ts'
import { wordOf } from './words.ts'

/** A kind of request, and requests of this kind that are sent in turn. */
export interface Shape {
  /** Name of its results. */
  name: string
  requests: HttpRequest[]
  /** Done before each request and not timed; such a shape is measured one request at a time. */
  before?: () => Promise<void>
  /** Whose its requests are when each makes a task: that of one is recorded, for which they all stand in turn. */
  owners?: readonly string[]
}

type Query = Record<string, string | number>

const get = (path: string, query: Query = {}): HttpRequest => {
  const text = new URLSearchParams(query as Record<string, string>).toString()
  return { path: text === '' ? path : `${path}?${text}` }
}

/** The query of each search. */
const search = (...queries: Query[]): HttpRequest[] =>
  queries.map((query) => get('/nodes/search', query))

/** Searches by one member of the query. */
const searchBy = (member: string, values: readonly string[]): HttpRequest[] =>
  search(...values.map((value) => ({ [member]: value })))

/** Searches for words of these ranks. */
export const searchWords = (ranks: readonly number[], query: Query = {}): HttpRequest[] =>
  search(...ranks.map((rank) => ({ search: wordOf(rank), ...query })))

/** So many ranks. */
const ranks = (from: number, count: number): number[] =>
  Array.from({ length: count }, (_, at) => from + at)

/** All shapes of a catalogue that is loaded. */
export const listShapes = async (sql: Sql): Promise<Shape[]> => {
  const reach = await readReach(sql)
  const nodes = await listSome(sql, reach.nodes)
  return [...searchShapes(sql, reach.deepest, nodes), ...listingShapes(reach, nodes)]
}

const searchShapes = (sql: Sql, deepest: number, nodes: readonly SomeNode[]): Shape[] => {
  const pairs = ranks(20, 10).map((rank) => `${wordOf(rank)} ${wordOf(60 + rank)}`)
  const repositories = nodes.map(({ id, repository }) => (id.endsWith('0') ? id : repository))
  const nameParts = ranks(300, 10).map((rank) => wordOf(rank) + wordOf(2).slice(0, 2))
  const frequent = ranks(1, 10).map(wordOf)
  return [
    { name: 'rare', requests: searchWords(ranks(15_000, 20)) },
    // It is in 80 % of nodes.
    { name: 'frequent', requests: searchWords([1]) },
    { name: 'frequent-deepest', requests: searchWords(ranks(1, 12), { page: deepest }) },
    { name: 'two-words', requests: searchBy('search', pairs) },
    { name: 'substring', requests: searchBy('search', ['aki', 'ote', 'uni', 'emo', 'ira']) },
    { name: 'all', requests: search({}) },
    { name: 'all-deepest', requests: search({ page: deepest }) },
    {
      name: 'support',
      requests: search(
        { supported_os: 'posix :: linux', supported_accelerator: 'gpu :: nvidia cuda' },
        { supported_os: 'macos', supported_accelerator: 'gpu :: apple metal' },
        { supported_os: 'plan 9', supported_accelerator: 'npu :: huawei ascend' },
      ),
    },
    { name: 'repository', requests: searchBy('repository_url_search', repositories) },
    { name: 'host-node', requests: searchBy('host_node_search', nameParts) },
    { name: 'host-node-frequent', requests: searchBy('host_node_search', frequent) },
    {
      name: 'first-count',
      requests: searchWords(ranks(1, 10)),
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
  return [
    { name: 'nodes.first', requests: [get('/nodes')] },
    { name: 'nodes.last', requests: [get('/nodes', { page: Math.ceil(nodes / LIST_LIMIT) })] },
    { name: 'nodes.changed', requests: [get('/nodes', since)] },
    { name: 'versions.all', requests: [get('/versions')] },
    { name: 'versions.reason', requests: flagged },
    { name: 'versions.node', requests: ofNodes },
  ]
}

interface Reach {
  nodes: number
  changed: Date
  deepest: number
}

/** Reads the greatest page × limit (SEARCH_MAX_DEPTH) with a limit of 10, the listed nodes, and since when 100 have changed. */
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

/** Listed nodes with a latest version, evenly from all. */
export const listSome = async (sql: Sql, nodes: number) =>
  await sql<SomeNode[]>`
    select id, repository from (
      select n.id, n.repository, row_number() over (order by n.created_at, n.id) as place
      from node n join node_stats s on s.node_id = n.id and s.listed
      where n.latest_version_id is not null
    ) listed
    where place % ${Math.floor(nodes / 50)}::integer = 0
    order by place limit 50
  `
