import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  assertMembers,
  expectStatus,
  listOf,
  memberOf,
  pluck,
  type Client,
} from '../../support/client.ts'
import { unique, usePublisher, useRegistry } from './registry-support.ts'

const registry = useRegistry()
const { anonymous, admin, sql } = registry
const owned = usePublisher(registry)
const { owner, path: own } = owned

const addUser = async (name?: string): Promise<Client> => (await registry.addUser(name)).client

/** A node with a review, and the paths of both. */
const addReviewed = async (stars = 3) => {
  const nodeId = await owned.addNode()
  const node = `/nodes/${nodeId}`
  const author = await addUser()
  const put = (body: object, by = author) => by.put(`${node}/reviews/mine`, body)
  const { body } = expectStatus(await put({ stars, text: 'Works.' }), 200)
  const id = String(body['id'])
  const review = `${node}/reviews/${id}`
  const reply = `${own}${node}/reviews/${id}/reply`
  return { nodeId, node, author, put, id, review, reply, mine: `${node}/reviews/mine` }
}

const ratingOf = async (node: string): Promise<unknown[]> => {
  const { body } = expectStatus(await anonymous.get(node), 200)
  const list = expectStatus(await anonymous.get(`${node}/reviews`), 200).body
  assert.equal(list['total'], body['rating_count'])
  return [body['rating'], body['rating_count']]
}

describe('a review', () => {
  test('is one of a user and a node, edited in part, and deleted', async () => {
    const { nodeId, node, mine, author, put, id } = await addReviewed()
    await owned.addActive({ nodeId, version: '1.2.0' })
    const edited = await put({ stars: 5, version: 'v1.2' })
    assertMembers(edited.body, { id, stars: 5, text: 'Works.', version: '1.2.0', is_mine: true })
    assert.match(String(edited.body['edited_at']), /Z$/)
    const cleared = expectStatus(await put({ stars: 5, text: '', version: '' }), 200)
    assert.deepEqual([cleared.body['text'], cleared.body['version']], [undefined, undefined])
    assert.deepEqual(expectStatus(await author.get(mine), 200).body, cleared.body)
    assert.deepEqual(await ratingOf(node), [5, 1])
    expectStatus(await author.delete(mine), 204)
    assert.deepEqual(await ratingOf(node), [0, 0])
    expectStatus(await author.get(mine), 404, 'review_not_found')
    expectStatus(await author.delete(mine), 404, 'review_not_found')
  })

  test('that is sent again is not edited', async () => {
    const { node, put } = await addReviewed()
    const { headers } = await anonymous.get(node)
    const again = expectStatus(await put({ stars: 3, text: 'Works.' }), 200)
    assert.equal(again.body['edited_at'], undefined)
    assert.equal((await anonymous.get(node)).headers.get('etag'), headers.get('etag'))
  })

  test('makes the rating the mean of all, rounded to .01, and the distribution', async () => {
    const { node, put } = await addReviewed(5)
    for (const stars of [4, 4]) expectStatus(await put({ stars }, await addUser()), 200)
    assert.deepEqual(await ratingOf(node), [4.33, 3])
    const { body } = await anonymous.get(`${node}/reviews`)
    assert.deepEqual(body['distribution'], [0, 0, 0, 2, 1])
  })

  test('is written as stars alone by the real clients, who read the node', async () => {
    const { node, author, mine } = await addReviewed()
    const { body } = expectStatus(await author.post(`${node}/reviews?star=1`, undefined), 200)
    assertMembers(body, { rating: 1, rating_count: 1 })
    assertMembers((await author.get(mine)).body, { stars: 1, text: 'Works.' })
    for (const query of ['', '?star=0', '?star=6', '?star=x', '?star=1&star=2'])
      expectStatus(
        await author.post(`${node}/reviews${query}`, undefined),
        400,
        'validation_failed',
      )
  })

  test('has a body that is checked, and a version that the pack has', async () => {
    const { nodeId, put } = await addReviewed()
    const long = 'x'.repeat(2_001)
    for (const body of [{}, { stars: 0 }, { stars: 6 }, { stars: 4.5 }, { stars: 1, text: long }])
      expectStatus(await put(body), 400, 'validation_failed')
    for (const version of ['9.9.9', 'no version'])
      expectStatus(await put({ stars: 1, version }), 404, 'version_not_found')
    const { ownVersion } = await owned.addActive({ nodeId, version: '2.0.0' })
    expectStatus(await put({ stars: 2, version: '2.0.0' }), 200)
    expectStatus(await owner.delete(ownVersion), 204)
    expectStatus(await put({ stars: 2, version: '2.0.0' }), 404, 'version_not_found')
    assertMembers((await put({ stars: 1 })).body, { stars: 1, version: '2.0.0' })
  })

  test('needs a credential, and is not for members, who keep what they wrote before', async () => {
    const { node, mine, put } = await addReviewed(1)
    expectStatus(await anonymous.put(mine, { stars: 5 }), 401, 'unauthorized')
    for (const role of ['owner', 'admin', 'member']) {
      const { client } = await owned.addMember(role)
      expectStatus(await put({ stars: 5 }, client), 403, 'forbidden')
      expectStatus(await client.post(`${node}/reviews?star=5`, undefined), 403, 'forbidden')
    }
    const { user, client } = await registry.addUser()
    expectStatus(await put({ stars: 1 }, client), 200)
    expectStatus(await owner.put(`${own}/members/${user}`, { role: 'member' }), 200)
    // An owner adds members without asking them.
    assert.deepEqual(await ratingOf(node), [1, 2])
    const listed = listOf(await anonymous.get(`${node}/reviews`), 'reviews')
    assertMembers(memberOf({ body: listed[0] ?? {} }, 'author'), { id: user, is_member: true })
    expectStatus(await put({ stars: 5 }, client), 403, 'forbidden')
    expectStatus(await client.delete(mine), 204)
    assert.deepEqual(await ratingOf(node), [1, 1])
  })

  test('shows no e-mail address of its author', async () => {
    const { node, put } = await addReviewed()
    const name = `${unique('ann')}@example.com`
    expectStatus(await put({ stars: 4 }, registry.client(`auth|${name}`)), 200)
    const { body } = await anonymous.get(`${node}/reviews`)
    assert.ok(!JSON.stringify(body).includes(name))
    assert.deepEqual(memberOf({ body: listOf({ body } as never, 'reviews')[0] ?? {} }, 'author'), {
      name: '',
      is_member: false,
    })
  })

  test('is found with its node alone: not of a deleted or banned one, and comes back with it', async () => {
    const { node, mine, author, put } = await addReviewed(4)
    const setStatus = (status: string) => admin.put(`/admin${node}`, { status, status_detail: 'x' })
    expectStatus(await setStatus('NodeStatusBanned'), 200)
    for (const response of [await anonymous.get(`${node}/reviews`), await put({ stars: 1 })])
      expectStatus(response, 403, 'node_banned')
    expectStatus(await setStatus('NodeStatusActive'), 200)
    expectStatus(await admin.post(`/admin${own}/ban`, { reason: 'x' }), 200)
    expectStatus(await put({ stars: 1 }), 403, 'publisher_banned')
    expectStatus(await admin.post(`/admin${own}/unban`, {}), 200)
    expectStatus(await owner.delete(own + node), 204)
    for (const response of [await author.get(mine), await put({ stars: 1 })])
      expectStatus(response, 404, 'node_not_found')
    expectStatus(await setStatus('NodeStatusActive'), 200)
    assert.deepEqual(await ratingOf(node), [4, 1])
  })

  test('changes the pack for caches and copies, and not for whoever edits it', async () => {
    const { node, put } = await addReviewed()
    const { headers } = await anonymous.get(node)
    const etag = headers.get('etag') ?? ''
    const [now] = await sql<{ at: Date }[]>`select clock_timestamp() as at`
    expectStatus(await put({ stars: 4 }), 200)
    assert.equal((await anonymous.get(node, { 'if-none-match': etag })).status, 200)
    const changed = await anonymous.get(`/nodes?timestamp=${now?.at.toISOString()}`)
    assert.deepEqual(pluck<number>(listOf(changed, 'nodes'), 'rating'), [4])
    expectStatus(await owner.put(own + node, { author: 'x' }, { 'if-match': etag }), 200)
  })
})

describe('a list of reviews', () => {
  test('has pages, the newest first', async () => {
    const { node, put, id: first } = await addReviewed()
    const [second, third] = [await addUser(), await addUser()]
    const ids = [first]
    for (const by of [second, third]) ids.unshift(String((await put({ stars: 4 }, by)).body['id']))
    const list = async (query: string) =>
      pluck(listOf(expectStatus(await anonymous.get(`${node}/reviews${query}`), 200), 'reviews'))
    assert.deepEqual(await list(''), ids)
    assert.deepEqual(await list('?limit=2&page=2'), [first])
    const { body } = await anonymous.get(`${node}/reviews?limit=2&page=9`)
    assertMembers(body, { reviews: [], total: 3, totalPages: 2, page: 9, limit: 2 })
    for (const query of ['limit=101', 'page=-1', 'page=1001&limit=10'])
      expectStatus(await anonymous.get(`${node}/reviews?${query}`), 400, 'validation_failed')
  })

  test('orders nodes with few reviews near the mean of all', async () => {
    const many = await addReviewed(5)
    for (let index = 0; index < 9; index += 1)
      expectStatus(await many.put({ stars: 5 }, await addUser()), 200)
    const [few, none, bad] = [await addReviewed(5), await owned.addNode(), await addReviewed(1)]
    const nodes = [many.nodeId, few.nodeId, none, bad.nodeId]
    const query = `node_id=${nodes.join('&node_id=')}`
    const list = async (sort: string) =>
      pluck(listOf(expectStatus(await anonymous.get(`/nodes?sort=${sort}&${query}`), 200), 'nodes'))
    assert.deepEqual(await list('rating;desc'), nodes)
    assert.deepEqual(await list('rating'), nodes.toReversed())
    const search = await anonymous.get('/nodes/search?sort=rating;desc&limit=1')
    assert.deepEqual(pluck(listOf(search, 'nodes')), [many.nodeId])
  })
})

describe('readers of a review', () => {
  test('report it, and a platform admin hides it or shows it again', async () => {
    const { node, review, author, mine, put, id, reply } = await addReviewed(1)
    const [one, two] = [await addUser(), await addUser()]
    expectStatus(await one.post(`${review}/report`, { reason: '' }), 400, 'validation_failed')
    for (const by of [one, two, one])
      expectStatus(await by.post(`${review}/report`, { reason: 'spam' }), 204)
    const reported = async () =>
      listOf(expectStatus(await admin.get('/admin/reviews?limit=100'), 200), 'reviews')
    assert.deepEqual((await reported()).find((one) => one['id'] === id)?.['reports'], [
      'spam',
      'spam',
    ])
    expectStatus(await one.get('/admin/reviews'), 403, 'forbidden')

    const decide = (body: object, by = admin) => by.put(`/admin${review}`, body)
    expectStatus(await decide({ status: 'hidden', reason: 'x' }, owner), 403, 'forbidden')
    expectStatus(await decide({ status: 'hidden' }), 400, 'validation_failed')
    for (const reason of ['an ad', 'an ad'])
      assertMembers((await decide({ status: 'hidden', reason })).body, {
        status: 'hidden',
        hidden_reason: 'an ad',
      })
    assert.deepEqual(await ratingOf(node), [0, 0])
    assert.equal(
      (await reported()).some((one) => one['id'] === id),
      false,
    )
    assert.deepEqual(listOf(await anonymous.get(`${node}/reviews`), 'reviews'), [])
    assert.deepEqual(listOf(await one.get(`${node}/reviews?include_hidden=true`), 'reviews'), [])
    const hidden = await admin.get(`${node}/reviews?include_hidden=true`)
    assert.deepEqual(pluck(listOf(hidden, 'reviews')), [id])
    assert.equal(hidden.body['total'], 1)
    for (const response of [
      await two.post(`${review}/report`, { reason: 'spam' }),
      await owner.put(reply, { text: 'x' }),
    ])
      expectStatus(response, 404, 'review_not_found')

    // Neither an edit nor another one in its place lifts the decision.
    const edited = expectStatus(await put({ stars: 5 }), 200)
    assertMembers(edited.body, { status: 'hidden', hidden_reason: 'an ad' })
    expectStatus(await author.delete(mine), 204)
    expectStatus(await author.get(mine), 404, 'review_not_found')
    expectStatus(await decide({ status: 'visible', reason: 'fine' }), 404, 'review_not_found')
    const again = expectStatus(await put({ stars: 2 }), 200).body
    assertMembers(again, { id, status: 'hidden', text: undefined })
    assert.deepEqual(await ratingOf(node), [0, 0])

    assertMembers((await decide({ status: 'visible', reason: 'fine' })).body, {
      status: 'visible',
      stars: 2,
    })
    assert.deepEqual(await ratingOf(node), [2, 1])
    const log = await admin.get(`/admin/audit-log?actor=root&target=node/${node.split('/')[2]}`)
    const actions = listOf(log, 'entries').map(({ action, reason }) => [action, reason])
    assert.deepEqual(actions, [
      ['review.show', 'fine'],
      ['review.hide', 'an ad'],
    ])
  })

  test('have one reply of the publisher', async () => {
    const { node, review, reply } = await addReviewed()
    const stranger = await addUser()
    expectStatus(await stranger.put(reply, { text: 'x' }), 403, 'forbidden')
    expectStatus(await owner.put(reply, {}), 400, 'validation_failed')
    const { client } = await owned.addMember('member')
    for (const text of ['Thank you.', 'Thanks.'])
      expectStatus(await client.put(reply, { text }), 200)
    const [listed] = listOf(await anonymous.get(`${node}/reviews`), 'reviews')
    assertMembers(memberOf({ body: listed ?? {} }, 'reply'), { text: 'Thanks.' })
    assert.equal(expectStatus(await client.put(reply, { text: '' }), 200).body['reply'], undefined)
    const other = await registry.addPublisher()
    const wrong = `${other.path}${review}/reply`
    expectStatus(await other.owner.put(wrong, { text: 'x' }), 404, 'node_not_found')
    expectStatus(
      await owner.put(`${own}${node}/reviews/1/reply`, { text: 'x' }),
      404,
      'review_not_found',
    )
  })
})
