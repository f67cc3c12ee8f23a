import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'

import { exportJWK, generateKeyPair, importJWK, jwtVerify, SignJWT } from 'jose'

import { makeSecrets } from '../../../src/platform/adapters/secrets.ts'
import { makeSigningKeys } from '../../../src/identity/http/sign-in/keys.ts'
import { useDatabase } from '../../support/stack.ts'

const { sql } = useDatabase()
const keys = [randomBytes(32).toString('base64')]
const secrets = makeSecrets({ keys })

const sign = async ({ jwks }: { jwks: readonly object[] }): Promise<string> => {
  const [first = {}] = jwks
  const { kid = '' } = first as { kid?: string }
  const header = { alg: 'ES256', kid }
  return await new SignJWT({}).setProtectedHeader(header).sign(await importJWK(first, 'ES256'))
}

test('a signing key is made once by all apis, signs an hour after it was made, and the one before verifies on', async () => {
  await sql`truncate sign_in_key`
  const [own, other] = await Promise.all([
    makeSigningKeys({ sql, secrets }),
    makeSigningKeys({ sql, secrets }),
  ])
  assert.deepEqual(own.jwks, other.jwks)
  const [row] = await sql<{ period: string }[]>`select period::text from sign_in_key`
  const before = String(Number(row?.period) - 1)
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const text = JSON.stringify(await exportJWK(privateKey))
  await sql`
    insert into sign_in_key (period, private_key, created_at)
    values (${before}, ${secrets.encrypt(text, `sign_in_key ${before}`)}, now() - interval '30 days')
  `
  assert.equal(await own.renew(), true)
  assert.deepEqual(
    own.jwks.map(({ kid }) => kid),
    [before, row?.period],
  )
  const old = await sign(own)
  await sql`update sign_in_key set created_at = created_at - interval '2 hours'`
  assert.deepEqual([await own.renew(), await own.renew()], [true, false])
  assert.deepEqual(
    own.jwks.map(({ kid }) => kid),
    [row?.period, before],
  )
  for (const token of [old, await sign(own)]) await jwtVerify(token, own.verify)
})

test('a signing key whose SECRETS_KEYS has gone keeps an api from starting, and names it', async () => {
  const others = makeSecrets({ keys: [randomBytes(32).toString('base64')] })
  await assert.rejects(makeSigningKeys({ sql, secrets: others }), /SECRETS_KEYS/)
})
