import assert from 'node:assert/strict'
import { test } from 'node:test'

import { makeUserRecorder } from '../../../src/identity/http/access/user-recorder.ts'
import { useDatabase } from '../../support/stack.ts'

const { sql } = useDatabase()

test('a user is written when new or changed, and again after an hour', async () => {
  let now = 0
  const users = makeUserRecorder({ sql, clock: () => now })
  const record = (name: string) =>
    users.record({ principal: 'ann', owner: 'ann', scheme: 'jwt', profile: { name } })
  const read = async () =>
    (await sql<{ name: string }[]>`select name from app_user where id = 'ann'`)[0]?.name
  await record('Ann')
  assert.equal(await read(), 'Ann')
  await record('Anna')
  assert.equal(await read(), 'Anna')
  await sql`update app_user set name = 'other'`
  await record('Anna')
  assert.equal(await read(), 'other')
  now = 3_600_000
  await record('Anna')
  assert.equal(await read(), 'Anna')
  // A key says nothing of its user, and so changes nothing.
  await users.record({ principal: 'ann', owner: 'ann', scheme: 'api_key' })
  assert.equal(await read(), 'Anna')
  await users.record({ principal: 'bob', owner: 'bob', scheme: 'api_key' })
  assert.equal((await sql`select from app_user where id = 'bob'`).length, 1)
})
