import type { Sql, Transaction } from '../../platform/db/client.ts'
import { recordListChange } from './search/listed-count.ts'
import { lockNode } from './registry-lock.ts'

interface DueRating {
  nodeId: string
  id: string
}

/** A batch of the reviews that need wait no longer: their accounts are old enough. */
export const listDueRatings = async (sql: Sql): Promise<DueRating[]> =>
  await sql<DueRating[]>`
    select id, node_id as "nodeId" from rating
    where state = 'waiting' and counts_at <= clock_timestamp()
    order by counts_at
    limit 200
  `

export const showDueRating = async (sql: Transaction, { nodeId, id }: DueRating): Promise<void> => {
  await lockNode(sql, nodeId)
  await sql`update rating set state = 'visible' where id = ${id} and state = 'waiting'`
  await recordListChange(sql)
}

/** Renews the mean that `sort=rating` weighs with, then the nodes, a batch at a time: downloads are counted in the same rows. */
export const renewRatingMean = async (sql: Sql, batch = 1_000): Promise<void> => {
  await sql`
    update rating_mean set mean = coalesce((
      select sum(rating_sum)::float8 / sum(rating_count) from node_stats where rating_count > 0
    ), mean)
    where is_only
  `
  for (let after: string | null = ''; after !== null;) {
    const [row]: { last: string | null }[] = await sql`
      with rated as (
        select node_id from node_stats where rating_count > 0 and node_id > ${after}
        order by node_id limit (select ${batch}::integer)
      ), renewed as (
        update node_stats s set rating_weight = rating_weight(s.rating_sum, s.rating_count)
        from rated where s.node_id = rated.node_id
      )
      select max(node_id) as last from rated
    `
    after = row?.last ?? null
  }
}
