import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeRandom, pick } from '../../faults/random.ts'
import { expectStatus, listOf, type HttpResponse } from '../../support/client.ts'
import { waitFor } from '../../support/wait.ts'
import { usePublisher, useRegistry } from './registry-support.ts'

const USERS = 1_000
const AT_ONCE = 50
const STEPS = 3

const registry = useRegistry({})
const { anonymous, admin, sql } = registry
const owned = usePublisher(registry)

/** All of them wait for one row, on a slow machine longer than a request may: those come again. */
const send = (what: string, call: () => Promise<HttpResponse>): Promise<HttpResponse> =>
  waitFor(what, async () => {
    const response = await call()
    return response.status !== 503 && response
  })

describe(`${USERS} users who review one node, ${AT_ONCE} at once`, () => {
  test('leave its rating exact, and never out of range meanwhile', async (t) => {
    const random = makeRandom(39)
    const node = `/nodes/${await owned.addNode()}`
    const mine = `${node}/reviews/mine`
    const decide = (id: string, status: string) =>
      send('a decision', () => admin.put(`/admin${node}/reviews/${id}`, { status, reason: 'x' }))
    /** Stars that count by user: what the rating must be in the end. */
    const counted = new Map<string, number>()
    const left = new Set(Array.from({ length: USERS }, (_, index) => `reviewer-${index}`))
    let writes = 0

    /** A review that is written, edited, deleted, hidden and shown. */
    const act = async (user: string): Promise<void> => {
      const client = registry.client(user)
      let id: string | undefined
      let isHidden = false
      for (let step = 0; step < STEPS; step += 1) {
        const stars = 1 + Math.floor(random() * 5)
        const way = id === undefined ? 'put' : pick(random, ['put', 'star', 'delete', 'hide'])
        writes += 1
        if (way === 'put') {
          const { body } = expectStatus(
            await send('a review', () => client.put(mine, { stars })),
            200,
          )
          id = String(body['id'])
        } else if (way === 'star')
          expectStatus(
            await send('stars', () => client.post(`${node}/reviews?star=${stars}`, undefined)),
            200,
          )
        else if (way === 'hide') expectStatus(await decide(id ?? '', 'hidden'), 200)
        else {
          const { status } = await send('a deletion', () => client.delete(mine))
          // One whose first outcome was not known has been done then.
          assert.ok(status === 204 || status === 404, String(status))
          id = undefined
        }
        // Hidden it stays, whatever its author does.
        isHidden ||= way === 'hide'
        if (isHidden && random() < 0.5 && id !== undefined) {
          expectStatus(await send('an edit', () => client.put(mine, { stars })), 200)
          expectStatus(await decide(id, 'visible'), 200)
          isHidden = false
          writes += 2
        }
        if (isHidden || id === undefined) counted.delete(user)
        else counted.set(user, stars)
      }
    }

    let reads = 0
    /** Reads until all are done; two values of one response never contradict each other. */
    const watch = async (): Promise<void> => {
      while (left.size > 0) {
        const { body } = expectStatus(await send('the node', () => anonymous.get(node)), 200)
        const [rating, count] = [Number(body['rating']), Number(body['rating_count'])]
        assert.ok(Number.isInteger(count) && count >= 0 && count <= USERS, String(count))
        assert.ok(count === 0 ? rating === 0 : rating >= 1 && rating <= 5, `${rating} of ${count}`)
        assert.ok(Math.abs(rating * 100 - Math.round(rating * 100)) < 1e-6, String(rating))
        const list = expectStatus(
          await send('the list', () => anonymous.get(`${node}/reviews`)),
          200,
        )
        const counts = list.body['distribution'] as unknown as number[]
        assert.equal(
          counts.reduce((sum, n) => sum + n, 0),
          list.body['total'],
        )
        reads += 2
      }
    }

    const queue = [...left][Symbol.iterator]()
    const begun = performance.now()
    const work = async (): Promise<void> => {
      for (const user of queue) {
        await act(user)
        left.delete(user)
      }
    }
    await Promise.all([watch(), ...Array.from({ length: AT_ONCE }, work)])
    const seconds = (performance.now() - begun) / 1000
    t.diagnostic(`${writes} writes and ${reads} reads in ${seconds.toFixed(1)} s`)

    const distribution = [1, 2, 3, 4, 5].map(
      (stars) => [...counted.values()].filter((given) => given === stars).length,
    )
    const votes = counted.size
    const sum = [...counted.values()].reduce((sum, stars) => sum + stars, 0)
    const rating = Math.round((sum * 100) / votes) / 100
    const { body } = expectStatus(await anonymous.get(node), 200)
    assert.deepEqual([body['rating'], body['rating_count']], [rating, votes])
    const list = expectStatus(await anonymous.get(`${node}/reviews?limit=100`), 200)
    assert.deepEqual([list.body['distribution'], list.body['total']], [distribution, votes])
    assert.equal(listOf(list, 'reviews').length, 100)
    const [row] = await sql<{ real: string; mean: string }[]>`
      select sum(stars)::text as real, round(avg(stars), 2)::float8::text as mean
      from rating where state = 'visible'
    `
    const [stats] = await sql<{ sum: string }[]>`
      select rating_sum::text as sum from node_stats where rating_count > 0
    `
    assert.deepEqual([row?.real, row?.mean], [stats?.sum, String(rating)])
  })
})

describe('a review of an account younger than REVIEW_MIN_AGE_HOURS', () => {
  const young = useRegistry({ env: { REVIEW_MIN_AGE_HOURS: '1' } })
  const publisher = usePublisher(young)

  test('is seen by its author and platform admins, and counts later', async () => {
    const node = `/nodes/${await publisher.addNode()}`
    const { client, user } = await young.addUser()
    const put = (stars: number) => client.put(`${node}/reviews/mine`, { stars })
    const { body } = expectStatus(await put(5), 200)
    assert.equal(body['status'], 'waiting')
    assert.equal((await client.get(`${node}/reviews/mine`)).body['status'], 'waiting')
    const list = (query = '', by = young.anonymous) => by.get(`${node}/reviews${query}`)
    assert.deepEqual((await list()).body['reviews'], [])
    assert.equal((await young.anonymous.get(node)).body['rating_count'], 0)
    assert.equal(listOf(await list('?include_hidden=true', young.admin), 'reviews').length, 1)
    await young.sql`
      update app_user set created_at = created_at - interval '61 minutes' where id = ${user}
    `
    // What is written from now on need not wait for the hourly job.
    expectStatus(await client.delete(`${node}/reviews/mine`), 204)
    assert.equal(expectStatus(await put(4), 200).body['status'], 'visible')
    assert.equal((await young.anonymous.get(node)).body['rating'], 4)
  })
})
