import { isDeepStrictEqual } from 'node:util'

import type { Sql, Transaction } from '../../src/db/client.ts'
import {
  settleCurrentHostNodes,
  settleLatestVersion,
} from '../../src/db/registry/latest-version.ts'
import { getListed } from '../../src/db/search/listed-count.ts'
import { setNodeFields } from '../../src/db/registry/node.ts'

const SAMPLE = 200

/**
 * Has the service's own functions derive anew what was loaded: for a sample of nodes everything in the row of the node
 * and the names of its host nodes, for all of them what is listed. Throws when anything differs; changes nothing.
 */
export const verifyCatalogue = async (sql: Sql): Promise<void> => {
  const nodes = await sql<{ id: string }[]>`
    select id from node order by md5(id) limit ${SAMPLE}
  `
  for (const { id } of nodes)
    await rolledBack(sql, async (sql) => {
      const loaded = await readDerived(sql, id)
      await setNodeFields(sql, id, {})
      await settleLatestVersion(sql, id)
      await settleCurrentHostNodes(sql, id)
      const derived = await readDerived(sql, id)
      if (!isDeepStrictEqual(loaded, derived))
        throw new Error(`the service would have written ${id} otherwise`)
    })
  await verifyListed(sql)
}

/** The row of a node but for what every write changes, and its host nodes. */
const readDerived = async (sql: Transaction, id: string): Promise<unknown> => {
  const [row] = await sql`
    select to_jsonb(n) - 'updated_at' - 'rev' as node,
      array(select name from current_host_node where node_id = n.id order by name) as names
    from node n where id = ${id}
  `
  return row
}

const verifyListed = async (sql: Sql): Promise<void> => {
  const [real] = await sql<{ nodes: number; versions: number; wrong: number }[]>`
    select count(*) filter (where is_listed)::integer as nodes,
      count(*) filter (where is_listed <> s.listed)::integer as wrong,
      (
        select count(*)::integer from version v join node_stats s using (node_id)
        where s.listed and v.status <> 'NodeVersionStatusDeleted'
      ) as versions
    from node_stats s
    join node n on n.id = s.node_id
    join publisher p on p.id = n.publisher_id
    cross join lateral (
      select n.status = 'NodeStatusActive' and p.status = 'PublisherStatusActive' as is_listed
    ) judged
  `
  const counted = [await getListed(sql, 'node'), await getListed(sql, 'version')].map(({ n }) => n)
  if (real?.wrong !== 0 || !isDeepStrictEqual(counted, [real.nodes, real.versions]))
    throw new Error(`listed are ${JSON.stringify(real)}, not ${counted.join(' and ')}`)
}

class RollBack extends Error {}

const rolledBack = async (sql: Sql, work: (sql: Transaction) => Promise<void>): Promise<void> => {
  const done = sql.begin(async (sql) => {
    await work(sql)
    throw new RollBack()
  })
  await done.catch((error: unknown) => {
    if (!(error instanceof RollBack)) throw error
  })
}
