import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, test } from 'node:test'

import { ensureUser, findUser, upsertUser } from '../../src/db/shared/app-user.ts'
import { listMembers, putMember, removeMember } from '../../src/db/registry/member.ts'
import {
  findPersonalAccessToken,
  insertPersonalAccessToken,
  listPersonalAccessTokens,
  revokePersonalAccessToken,
} from '../../src/db/registry/personal-access-token.ts'
import {
  existsPublisher,
  findPublisherFacts,
  getPublisher,
  insertPublisher,
  updatePublisher,
} from '../../src/db/registry/publisher.ts'
import type { MemberRole } from '../../src/domain/registry/member.ts'
import { useRegistryPlace } from './registry-place.ts'

const { database, place } = useRegistryPlace()

const put = (publisherId: string, userId: string, role: MemberRole) =>
  database.sql.begin((sql) => putMember(sql, { publisherId, userId, role }))
const remove = (publisherId: string, userId: string) =>
  database.sql.begin((sql) => removeMember(sql, { publisherId, userId }))
const rolesOf = async (publisherId: string): Promise<string[]> =>
  (await listMembers(database.sql, publisherId)).map(({ user, role }) => `${user.id} ${role}`)

describe('users', () => {
  test('are what the last token said, and rest when it said the same', async () => {
    const readRow = async () => {
      const [row] = await database.sql`select xmin::text, name from app_user where id = 'una'`
      return row
    }
    await upsertUser(database.sql, { id: 'una', name: 'Una', email: 'una@x.org' })
    const first = await readRow()
    await upsertUser(database.sql, { id: 'una', name: 'Una', email: 'una@x.org' })
    assert.deepEqual(await readRow(), first)
    await ensureUser(database.sql, 'una')
    await upsertUser(database.sql, { id: 'una', name: 'Una B' })
    assert.deepEqual(await findUser(database.sql, 'una'), { id: 'una', name: 'Una B' })
    await ensureUser(database.sql, 'key-only')
    assert.deepEqual(await findUser(database.sql, 'key-only'), { id: 'key-only', name: 'key-only' })
  })
})

describe('publishers', () => {
  test('are created with their owner, once', async () => {
    await place.addUser('ann')
    const create = () =>
      database.sql.begin((sql) =>
        insertPublisher(sql, {
          publisher: { id: 'first', description: 'us', logo: '' },
          userId: 'ann',
          limit: 20,
        }),
      )
    const results = (await Promise.all([create(), create(), create()])).map(({ result }) => result)
    assert.deepEqual(results.toSorted(), ['created', 'publisher_exists', 'publisher_exists'])
    const { createdAt, members, ...rest } = await getPublisher(database.sql, 'FIRST')
    assert.match(createdAt, /Z$/)
    assert.deepEqual(rest, {
      id: 'first',
      name: 'first',
      description: 'us',
      status: 'PublisherStatusActive',
    })
    assert.deepEqual(
      members.map(({ role, user }) => ({ role, user })),
      [{ role: 'owner', user: { id: 'ann', name: 'ann by name', email: 'ann@x.org' } }],
    )
    assert.equal(await existsPublisher(database.sql, 'first'), true)
  })

  test('are no more for one user than the limit, however many are asked for at once', async () => {
    await place.addUser('max')
    const results = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        database.sql.begin((sql) =>
          insertPublisher(sql, { publisher: { id: `max-${index}` }, userId: 'max', limit: 3 }),
        ),
      ),
    )
    assert.equal(results.filter(({ result }) => result === 'created').length, 3)
  })

  test('keep what an update does not name, and clear what it leaves empty', async () => {
    await place.addPublisher('edited', 'ann')
    const update = (fields: object) =>
      database.sql.begin((sql) => updatePublisher(sql, { id: 'Edited', fields }))
    await update({ name: 'Shown', website: 'https://x.org', support: 'ask' })
    const after = await update({ name: '', website: '' })
    assert.equal(after?.name, 'edited')
    assert.equal(after?.support, 'ask')
    assert.ok(after && !('website' in after), 'no website')
    const none = database.sql.begin((sql) => updatePublisher(sql, { id: 'nobody', fields: {} }))
    assert.equal(await none, undefined)
  })
})

describe('members', () => {
  test('are known by their role', async () => {
    await place.addPublisher('roles', 'ann')
    for (const role of ['admin', 'member'] as const) {
      await place.addUser(role)
      assert.equal((await put('roles', role, role)).result, 'done')
    }
    const roleOf = async (userId: string | undefined) =>
      (await findPublisherFacts(database.sql, { id: 'roles', userId }))?.role
    for (const [userId, role] of [
      ['ann', 'owner'],
      ['admin', 'admin'],
      ['member', 'member'],
      ['una', null],
      [undefined, null],
    ] as const)
      assert.equal(await roleOf(userId), role)
  })

  test('always leave one owner, however many go at once', async () => {
    await place.addPublisher('owned', 'o0')
    const owners = ['o0', 'o1', 'o2', 'o3', 'o4', 'o5']
    for (const id of owners.slice(1)) {
      await place.addUser(id)
      await put('owned', id, 'owner')
    }
    const results = await Promise.all(
      owners.map(async (id, index) =>
        index % 2 === 0 ? await remove('owned', id) : (await put('owned', id, 'member')).result,
      ),
    )
    assert.equal(results.filter((result) => result === 'last_owner').length, 1)
    const left = (await rolesOf('owned')).filter((line) => line.endsWith(' owner'))
    assert.equal(left.length, 1)
  })

  test('make no tokens once they are removed', async () => {
    await place.addPublisher('tokens-of', 'ann')
    await place.addUser('tom')
    await put('tokens-of', 'tom', 'admin')
    await place.addToken('tokens-of', 'tom')
    await remove('tokens-of', 'tom')
    await assert.rejects(place.addToken('tokens-of', 'tom'), /no_member/)
  })
})

describe('personal access tokens', () => {
  const secret = 'kiln_pat_secret-of-this-test'
  const sha256 = createHash('sha256').update(secret).digest('hex')
  const find = (publisherId: string) =>
    findPersonalAccessToken(database.sql, { sha256, publisherId })
  let id = ''

  before(async () => {
    await place.addPublisher('token-pub', 'ann')
    const made = await database.sql.begin((sql) =>
      insertPersonalAccessToken(sql, {
        publisherId: 'token-pub',
        userId: 'ann',
        name: 'ci',
        description: '',
        sha256,
        last4: 'test',
        scope: 'publish',
        nodeId: undefined,
        expires_at: new Date(Date.now() + 3_600_000),
      }),
    )
    assert.ok(made.result === 'created', made.result)
    id = made.id
  })

  test('are stored as a hash alone, and listed masked', async () => {
    const [row] = await database.sql<{ text: string }[]>`
      select t::text as text from personal_access_token t where id = ${id}
    `
    assert.ok(row && !row.text.includes(secret), row?.text)
    const [listed] = (await listPersonalAccessTokens(database.sql, 'Token-Pub')).filter(
      (token) => token.id === id,
    )
    assert.equal(listed?.token, 'kiln_pat_…test')
    assert.ok(
      listed && !('description' in listed) && !('last_used_at' in listed),
      'no empty member',
    )
  })

  test('are found while they live, for their publisher alone', async () => {
    assert.equal((await find('token-pub'))?.createdBy, 'ann')
    assert.equal(await find('roles'), undefined)
    const past = await database.sql.begin((sql) =>
      insertPersonalAccessToken(sql, {
        publisherId: 'token-pub',
        userId: 'ann',
        name: 'late',
        description: undefined,
        sha256: 'late',
        last4: 'late',
        scope: 'publish',
        nodeId: undefined,
        expires_at: new Date(Date.now() - 1_000),
      }),
    )
    assert.deepEqual(past, { result: 'expired' })
  })

  test('are refused at once when they expire or are revoked', async () => {
    await database.sql`
      update personal_access_token set expires_at = clock_timestamp() where id = ${id}
    `
    assert.equal(await find('token-pub'), undefined)
    await database.sql`update personal_access_token set expires_at = null where id = ${id}`
    const revoke = (publisherId: string, tokenId = id) =>
      revokePersonalAccessToken(database.sql, { id: tokenId, publisherId })
    assert.equal(await revoke('roles'), false)
    assert.equal(await revoke('token-pub', 'no uuid'), false)
    assert.equal(await revoke('token-pub', id.toUpperCase()), true)
    assert.equal(await revoke('token-pub'), false)
    assert.equal(await find('token-pub'), undefined)
  })
})
