import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  listDueRatings,
  renewRatingMean,
  showDueRating,
} from '../../../src/registry/db/rating-due.ts'
import { decideRating, deleteRating, putRating } from '../../../src/registry/db/rating.ts'
import { AUDIT, useRegistryPlace } from './registry-place.ts'

const { database, place } = useRegistryPlace()

/** Writes a review of a new user. */
const rate = async (nodeId: string, stars: number, { minAgeHours = 0, userId = '' } = {}) => {
  const author = userId || `user-${nodeId}-${Math.random()}`
  await place.addUser(author)
  const put = { nodeId, userId: author, fields: { stars }, minAgeHours }
  assert.equal(await database.sql.begin((sql) => putRating(sql, put)), 'written')
  return author
}

const statsOf = async (nodeId: string) => {
  const [row] = await database.sql<{ n: number; sum: number; weight: number }[]>`
    select rating_count as n, rating_sum::integer as sum, rating_weight as weight
    from node_stats where node_id = ${nodeId}
  `
  assert.ok(row)
  return row
}

const runDue = async (): Promise<number> => {
  const due = await listDueRatings(database.sql)
  for (const rating of due) await database.sql.begin((sql) => showDueRating(sql, rating))
  return due.length
}

describe('a review of a young account', () => {
  const age = (userId: string, hours: number) => database.sql`
    update rating set counts_at = counts_at - make_interval(hours => ${hours})
    where user_id = ${userId}
  `

  test('counts once the account is old enough', async () => {
    await place.addNode('young')
    const userId = await rate('young', 5, { minAgeHours: 24 })
    await rate('young', 4, { minAgeHours: 24, userId })
    assert.deepEqual([await runDue(), (await statsOf('young')).n], [0, 0])
    await age(userId, 25)
    assert.deepEqual([await runDue(), await runDue()], [1, 0])
    const { n, sum } = await statsOf('young')
    assert.deepEqual([n, sum], [1, 4])
  })

  test('that was hidden meanwhile does not count, and waits again when it is shown too early', async () => {
    await place.addNode('early')
    const userId = await rate('early', 5, { minAgeHours: 24 })
    const [row] = await database.sql<{ id: string }[]>`
      select id from rating where user_id = ${userId}
    `
    const decide = (status: 'hidden' | 'visible') =>
      database.sql.begin((sql) => {
        const fields = { status, reason: 'x' }
        return decideRating(sql, { nodeId: 'early', id: row?.id ?? '', fields, audit: AUDIT })
      })
    await decide('hidden')
    await decide('visible')
    assert.equal((await statsOf('early')).n, 0)
    await decide('hidden')
    await age(userId, 25)
    assert.equal(await runDue(), 0)
    await decide('visible')
    assert.equal((await statsOf('early')).n, 1)
  })
})

describe('the weight of a rating', () => {
  test('is its distance to the mean with five further votes there, renewed with the mean', async () => {
    await database.sql`truncate rating cascade`
    await database.sql`update node_stats set rating_sum = 0, rating_count = 0, rating_weight = 0`
    for (const id of ['w-none', 'w-one', 'w-many']) await place.addNode(id)
    await rate('w-one', 5)
    for (let n = 0; n < 10; n += 1) await rate('w-many', 2)
    await renewRatingMean(database.sql, 1)
    const mean = 25 / 11
    const weights = await Promise.all(['w-none', 'w-one', 'w-many'].map(statsOf))
    const expected = [0, (5 - mean) / 6, (20 - 10 * mean) / 15]
    for (const [index, { weight }] of weights.entries())
      assert.ok(Math.abs(weight - (expected[index] ?? 0)) < 1e-9, `${index}: ${weight}`)
  })

  test('is that of no reviews again after the last one is deleted', async () => {
    await place.addNode('w-last')
    const userId = await rate('w-last', 5)
    assert.ok((await statsOf('w-last')).weight > 0)
    await database.sql.begin((sql) => deleteRating(sql, { nodeId: 'w-last', userId }))
    assert.deepEqual(await statsOf('w-last'), { n: 0, sum: 0, weight: 0 })
  })
})
