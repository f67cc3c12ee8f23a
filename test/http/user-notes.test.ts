import assert from 'node:assert/strict'
import { test } from 'node:test'

import { makeUserNotes } from '../../src/http/access/user-notes.ts'
import { useDatabase } from '../support/stack.ts'

const { sql } = useDatabase()

test('a user is written when new or changed, and again after an hour', async () => {
  let now = 0
  const users = makeUserNotes({ sql, clock: () => now })
  const note = (name: string) =>
    users.note({ principal: 'ann', owner: 'ann', scheme: 'jwt', profile: { name } })
  const read = async () =>
    (await sql<{ name: string }[]>`select name from app_user where id = 'ann'`)[0]?.name
  await note('Ann')
  assert.equal(await read(), 'Ann')
  await note('Anna')
  assert.equal(await read(), 'Anna')
  await sql`update app_user set name = 'other'`
  await note('Anna')
  assert.equal(await read(), 'other')
  now = 3_600_000
  await note('Anna')
  assert.equal(await read(), 'Anna')
  // A key says nothing of its user, and so changes nothing.
  await users.note({ principal: 'ann', owner: 'ann', scheme: 'api_key' })
  assert.equal(await read(), 'Anna')
  await users.note({ principal: 'bob', owner: 'bob', scheme: 'api_key' })
  assert.equal((await sql`select from app_user where id = 'bob'`).length, 1)
})
