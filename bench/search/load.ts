import { makeDatabase } from '../../src/db/client.ts'
import type { Sql } from '../../src/db/client.ts'
import { makeNode, publisherId } from './catalogue.ts'
import type { CatalogueNode, CataloguePlan } from './catalogue.ts'
import { copyRows } from './copy.ts'

/** Nodes whose rows are put in at once, with those of their ten thousand versions. */
const CHUNK = 1_000
const LANES = 2
const MAKER = 'maker'

/**
 * Puts a catalogue into an empty database: rows by COPY, without foreign keys and without the indexes that no constraint
 * needs; those are made from their own definitions at the end. What functions of the service would derive is made with its
 * domain functions, by generated columns, or, for the counters, by one statement. Moves and archives are left out: nothing
 * that is measured reads them.
 */
export const loadCatalogue = async (url: string, plan: CataloguePlan): Promise<void> => {
  const sql = makeDatabase({ url, pool: LANES, name: 'kiln bench load', statementTimeoutMs: 0 })
  try {
    await tuneForLoad(sql)
    const indexes = await dropIndexes(sql)
    await insertMakers(sql, plan)
    await inLanes(sql, listChunks(plan), (sql, from) => loadChunk(sql, plan, from))
    await fillHostNames(sql)
    await inLanes(sql, indexes, async (sql, text) => void (await sql.unsafe(text)))
    await countListed(sql)
    await sql`vacuum (analyze)`
    await checkReferences(sql)
    await untune(sql)
  } finally {
    await sql.end()
  }
}

/** Only while rows are put in: what is measured runs with the settings of every embedded server. */
const LOAD_SETTINGS = {
  max_wal_size: '16GB',
  checkpoint_timeout: '1h',
  synchronous_commit: 'off',
  // An index is not made while it looks at the table, and a lock is waited for as long as in the api: a second.
  autovacuum: 'off',
  session_replication_role: 'replica',
  maintenance_work_mem: '512MB',
}

const tuneForLoad = async (sql: Sql): Promise<void> => {
  for (const [name, value] of Object.entries(LOAD_SETTINGS))
    await sql.unsafe(`alter system set ${name} = '${value}'`)
  await reload(sql)
}

const untune = async (sql: Sql): Promise<void> => {
  for (const name of Object.keys(LOAD_SETTINGS)) await sql.unsafe(`alter system reset ${name}`)
  await reload(sql)
  await sql`checkpoint`
}

const reload = async (sql: Sql): Promise<void> => void (await sql`select pg_reload_conf()`)

/** Drops what no constraint stands on, and answers the statements that make it again, the slowest first. */
const dropIndexes = async (sql: Sql): Promise<string[]> => {
  const rows = await sql<{ name: string; text: string }[]>`
    select c.relname as name, pg_get_indexdef(i.indexrelid) as text
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_am m on m.oid = c.relam
    where i.indrelid in ('node'::regclass, 'node_stats'::regclass, 'version'::regclass,
        'host_node'::regclass, 'current_host_node'::regclass, 'node_host_names'::regclass)
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
    order by m.amname = 'btree', c.relname
  `
  for (const { name } of rows) await sql`drop index ${sql(name)}`
  return rows.map(({ text }) => text)
}

const listChunks = ({ nodes }: CataloguePlan): number[] =>
  Array.from({ length: Math.ceil(nodes / CHUNK) }, (_, at) => at * CHUNK)

const inLanes = async <Item>(
  sql: Sql,
  items: readonly Item[],
  work: (sql: Sql, item: Item) => Promise<void>,
): Promise<void> => {
  const left = [...items].toReversed()
  const lane = async (): Promise<void> => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(sql, item)
  }
  await Promise.all(Array.from({ length: LANES }, lane))
}

const insertMakers = async (sql: Sql, { publishers }: CataloguePlan): Promise<void> => {
  await copyRows(sql, 'app_user (id, name)', [[MAKER, MAKER]])
  const ids = Array.from({ length: publishers }, (_, index) => publisherId(index))
  await copyRows(
    sql,
    'publisher (id, name, description, website, created_by)',
    ids.map((id) => [id, `The ${id}`, `Packs of ${id}`, `https://${id}.example.com`, MAKER]),
  )
  await sql`
    insert into publisher_member (publisher_id, user_id, role)
    select id, created_by, 'owner' from publisher
  `
}

const loadChunk = async (sql: Sql, plan: CataloguePlan, from: number): Promise<void> => {
  const length = Math.min(CHUNK, plan.nodes - from)
  const nodes = Array.from({ length }, (_, at) => makeNode(plan, from + at))
  await copyRows(sql, NODE, nodes.map(nodeRow))
  await copyRows(sql, NODE_STATS, nodes.map(statsRow))
  await copyRows(sql, VERSION, nodes.flatMap(versionRows))
  await copyRows(sql, HOST_NODE, nodes.flatMap(hostNodeRows))
  await copyRows(
    sql,
    'current_host_node (node_id, name)',
    nodes.flatMap(({ id, hostNodes }) => hostNodes.map(({ name }) => [id, name])),
  )
}

const NODE = `node (id, publisher_id, name, author, description, icon, repository, license, tags,
  supported_os, supported_accelerators, github_stars, status, status_detail, latest_version_id,
  created_at, updated_at)`

const nodeRow = (node: CatalogueNode) => [
  node.id,
  node.publisherId,
  node.name,
  node.author,
  node.description,
  node.icon,
  node.repository,
  '{"file": "LICENSE"}',
  node.tags,
  node.supportedOs,
  node.accelerators,
  node.stars,
  node.banned ? 'NodeStatusBanned' : 'NodeStatusActive',
  node.banned ? 'spam' : undefined,
  node.latest?.id,
  node.createdAt,
  node.updatedAt,
]

const NODE_STATS = 'node_stats (node_id, downloads, search_ranking, listed, created_at)'

const statsRow = ({ id, downloads, ranking, banned, createdAt }: CatalogueNode) => [
  id,
  downloads,
  ranking,
  !banned,
  createdAt,
]

const VERSION = `version (id, node_id, version, canonical, major, minor, patch, pre_key, dependencies,
  deprecated, status, status_reason, host_node_extract_status, extract_source, archive_state,
  upload_expires_at, published_by, created_at, last_moved_at, rev)`

const DEPENDENCIES = ['numpy', 'pillow>=10', 'torch']

const versionRows = (node: CatalogueNode) =>
  node.versions.map((version) => [
    version.id,
    node.id,
    version.version,
    version.canonical,
    version.major,
    version.minor,
    version.patch,
    version.pre_key,
    DEPENDENCIES.slice(0, version.patch % 4),
    version.deprecated,
    version.status,
    version.reason,
    'success',
    'derived',
    'accepted',
    new Date(version.createdAt.getTime() + 3_600_000),
    MAKER,
    version.createdAt,
    new Date(version.createdAt.getTime() + 5_000),
    5,
  ])

const HOST_NODE = `host_node (version_id, host_node_name, category, description, function, input_types,
  return_types, return_names, output_is_list)`

const INPUT_TYPES = '{"required": {"image": ["IMAGE"], "strength": ["FLOAT", {"default": 1.0}]}}'

const hostNodeRows = ({ latest, hostNodes }: CatalogueNode) =>
  hostNodes.map(({ name, category, description }) => [
    latest?.id,
    name,
    category,
    description,
    'run',
    INPUT_TYPES,
    '["IMAGE"]',
    '["image"]',
    ['f'],
  ])

/** What a trigger does otherwise. */
const fillHostNames = async (sql: Sql): Promise<void> => {
  await sql`
    insert into node_host_names (node_id, names)
    select node_id, string_agg(lower(name collate "default"), ${'\u0001'} order by name)
    from current_host_node group by node_id
  `
}

/** What the transactions of all publications would have added up to, spread over the slots as backends do. */
const countListed = async (sql: Sql): Promise<void> => {
  await sql`
    with real as (
      select 'node' as kind, (select count(*) from node_stats where listed) as n
      union all
      select 'version', (
        select count(*) from version v join node_stats s on s.node_id = v.node_id and s.listed
        where v.status <> 'NodeVersionStatusDeleted')
    )
    update listed_count c
    set n = real.n / 16 + case when c.slot < real.n % 16 then 1 else 0 end, changes = real.n / 16
    from real where real.kind = c.kind
  `
}

/** The foreign keys were not looked at while rows were put in. */
const checkReferences = async (sql: Sql): Promise<void> => {
  const [row] = await sql<{ lost: number }[]>`
    select (
      (select count(*) from node n where not exists (select from publisher where id = n.publisher_id))
      + (select count(*) from node n where latest_version_id is not null
          and not exists (select from version where id = n.latest_version_id))
      + (select count(*) from version v left join node n on n.id = v.node_id where n.id is null)
      + (select count(*) from host_node h left join version v on v.id = h.version_id
          where v.id is null)
      + (select count(*) from node n left join node_stats s on s.node_id = n.id
          where s.node_id is null)
    )::integer as lost
  `
  if (row?.lost !== 0) throw new Error(`${row?.lost} rows refer to none`)
}
