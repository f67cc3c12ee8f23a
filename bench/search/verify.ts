import { isDeepStrictEqual } from 'node:util'

import type { Sql, Transaction } from '../../src/db/client.ts'
import { settleCurrentHostNodes, settleLatestVersion } from '../../src/db/registry/version-move.ts'
import { setNodeFields } from '../../src/db/registry/node.ts'

const SAMPLE = 200

/**
 * Has the service's own functions derive anew what was loaded: for a sample of nodes everything in the row of the node
 * and the names of its host nodes. Throws when anything differs; changes nothing.
 */
export const verifyCatalogue = async (sql: Sql): Promise<void> => {
  const nodes = await sql<{ id: string }[]>`
    select id from node order by md5(id) limit ${SAMPLE}
  `
  const derive = sql.begin(async (sql) => {
    for (const { id } of nodes) {
      const loaded = await readDerived(sql, id)
      await setNodeFields(sql, id, {})
      await settleLatestVersion(sql, id)
      await settleCurrentHostNodes(sql, id)
      if (!isDeepStrictEqual(loaded, await readDerived(sql, id)))
        throw new Error(`the service would have written ${id} otherwise`)
    }
    throw SAME
  })
  await derive.catch((error: unknown) => {
    if (error !== SAME) throw error
  })
}

/** Thrown to have the transaction rolled back. */
const SAME = new Error('nothing differs')

/** The row of a node but for what every write changes, and its host nodes. */
const readDerived = async (sql: Transaction, id: string): Promise<unknown> => {
  const [row] = await sql`
    select to_jsonb(n) - 'updated_at' - 'rev' as node,
      array(select name from current_host_node where node_id = n.id order by name) as names
    from node n where id = ${id}
  `
  return row
}
