import { makeDatabase } from '../../src/platform/db/client.ts'
import type { Sql } from '../../src/platform/db/client.ts'
import { inLanes } from '../support/lanes.ts'
import { MAKER, makeRows, publisherId } from './catalogue.ts'
import type { CataloguePlan } from './catalogue.ts'

/** Nodes whose rows are put in at once, with those of their ten thousand versions. */
const CHUNK = 1_000
const LANES = 2
/** In which the rows of nodes are. */
const TABLES = ['current_host_node', 'node', 'node_stats', 'version', 'host_node'] as const

/**
 * Puts a catalogue into an empty database: rows without foreign keys and without the indexes that no constraint
 * needs; those are made from their own definitions at the end. What functions of the service would derive is made with its
 * domain functions, by the trigger of the words, or, for the counters, by one statement. Moves and archives are left out: nothing
 * that is measured reads them.
 */
export const loadCatalogue = async (url: string, plan: CataloguePlan): Promise<void> => {
  const sql = makeDatabase({ url, pool: LANES, name: 'kiln bench load', statementTimeoutMs: 0 })
  try {
    await tune(sql, true)
    await sql`alter table node enable always trigger node_words_set`
    const indexes = await dropIndexes(sql)
    await insertMakers(sql, plan)
    await inLanes(Math.ceil(plan.nodes / CHUNK), LANES, (at) => loadChunk(sql, plan, at * CHUNK))
    await inLanes(indexes.length, LANES, (at) => sql.unsafe(indexes[at] ?? ''))
    await countListed(sql)
    await sql`alter table node enable trigger node_words_set`
    await sql`vacuum (analyze)`
    await tune(sql, false)
    await sql`checkpoint`
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

/** Sets what loading needs, or sets it back. */
const tune = async (sql: Sql, isLoading: boolean): Promise<void> => {
  for (const [name, value] of Object.entries(LOAD_SETTINGS))
    await sql.unsafe(`alter system set ${name} = ${isLoading ? `'${value}'` : 'default'}`)
  await sql`select pg_reload_conf()`
}

/** Drops what no constraint stands on, and returns the statements that make it again, the slowest first. */
const dropIndexes = async (sql: Sql): Promise<string[]> => {
  const rows = await sql<{ name: string; text: string }[]>`
    select c.relname as name, pg_get_indexdef(i.indexrelid) as text
    from pg_index i
    join pg_class c on c.oid = i.indexrelid
    join pg_am m on m.oid = c.relam
    where i.indrelid::regclass::text = any(${[...TABLES, 'node_host_names']}::text[])
      and not exists (select from pg_constraint k where k.conindid = i.indexrelid)
    order by m.amname = 'btree', c.relname
  `
  for (const { name } of rows) await sql`drop index ${sql(name)}`
  return rows.map(({ text }) => text)
}

const insertMakers = async (sql: Sql, { publishers }: CataloguePlan): Promise<void> => {
  await insertRows(sql, 'app_user', [{ id: MAKER, name: MAKER }])
  const makers = Array.from({ length: publishers }, (_, index) => {
    const id = publisherId(index)
    const website = `https://${id}.example.com`
    const description = `Packs of ${id}`
    return { id, name: `The ${id}`, description, website, created_by: MAKER }
  })
  await insertRows(sql, 'publisher', makers)
  await sql`
    insert into publisher_member (publisher_id, user_id, role)
    select id, created_by, 'owner' from publisher
  `
}

const loadChunk = async (sql: Sql, plan: CataloguePlan, from: number): Promise<void> => {
  const length = Math.min(CHUNK, plan.nodes - from)
  const made = Array.from({ length }, (_, at) => makeRows(plan, from + at))
  for (const table of TABLES) {
    const rows = made.flatMap((rows): object[] => rows[table])
    await insertRows(sql, table, rows)
    // The words of a node are made with it, of these names, too.
    if (table === 'current_host_node')
      await fillHostNames(sql, pluckIds(made.flatMap(({ node }) => node)))
  }
}

const pluckIds = (rows: readonly { id: string }[]): string[] => rows.map(({ id }) => id)

/** Puts rows, all with the columns of the first, into a table. */
const insertRows = async (sql: Sql, table: string, rows: readonly object[]): Promise<void> => {
  const [first] = rows
  if (!first) return
  const columns = sql(Object.keys(first))
  await sql`
    insert into ${sql(table)} (${columns}) select ${columns}
    from json_populate_recordset(null::${sql(table)}, ${JSON.stringify(rows)}::text::json)
  `
}

/** Fills the names, which otherwise a trigger does. */
const fillHostNames = async (sql: Sql, nodeIds: readonly string[]): Promise<void> => {
  await sql`
    insert into node_host_names (node_id, names, words)
    select node_id, string_agg(lower(name collate "default"), ${'\u0001'} order by name),
      host_node_words(array_agg(name order by name))
    from current_host_node where node_id = any(${[...nodeIds]}::text[])
    group by node_id
  `
}

/** Writes the counts that the transactions of all publications would have added up to, spread over the slots as backends do. */
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
