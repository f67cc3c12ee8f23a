import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import { createRemoteJWKSet, jwtVerify } from 'jose'

import { decodeWebhookSecret } from '../../src/events/adapters/webhook.ts'
import { DEVELOPMENT_ISSUER } from '../../src/platform/process/development-issuer.ts'
import { DEVELOPMENT_AUDIENCE, signToken } from '../../src/platform/process/development-issuer.ts'
import { loadIssuerKey, startIssuer } from '../../src/local/issuer.ts'
import type { Issuer } from '../../src/local/issuer.ts'
import { loadKeys } from '../../src/local/keys.ts'
import { useFolder } from '../support/folder.ts'
import { PATIENCE_MS } from '../support/patience.ts'

describe('the development issuer', () => {
  let issuer: Issuer
  const folder = useFolder(() => issuer.close())
  before(async () => {
    issuer = await startIssuer(await loadIssuerKey(folder))
  })

  test('signs tokens that its key set verifies, also by a key read again', async () => {
    const token = await signToken(await loadIssuerKey(folder), 'alice')
    const keySet = createRemoteJWKSet(new URL(issuer.jwksUrl), { timeoutDuration: PATIENCE_MS })
    const { payload } = await jwtVerify(token, keySet, {
      issuer: DEVELOPMENT_ISSUER,
      audience: DEVELOPMENT_AUDIENCE,
      requiredClaims: ['exp', 'iat'],
    })
    assert.equal(payload.sub, 'alice')
    assert.equal((payload.exp ?? 0) - (payload.iat ?? 0), 12 * 3600)
  })

  test('serves the public part of its key alone', async () => {
    const { keys } = (await (await fetch(issuer.jwksUrl)).json()) as { keys: object[] }
    assert.deepEqual(
      keys.map((key) => Object.keys(key).toSorted()),
      [['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y']],
    )
    assert.equal((await fetch(new URL('/issuer.json', issuer.jwksUrl))).status, 404)
  })

  for (const subject of ['', 'anonymous', 'x'.repeat(256)])
    test(`signs nothing for ${JSON.stringify(subject.slice(0, 12))}`, async () => {
      await assert.rejects(signToken(await loadIssuerKey(folder), subject), /a token is for a user/)
    })

  test('keeps its key where only the owner reads it', async () => {
    assert.equal((await stat(join(folder, 'issuer.json'))).mode & 0o777, 0o600)
  })

  test('has beside it keys and a secret that stay the same', async () => {
    const keys = await loadKeys(folder)
    assert.deepEqual(await loadKeys(folder), keys)
    for (const key of [keys.signing, keys.secrets])
      assert.equal(Buffer.from(key, 'base64').length, 32)
    assert.equal(decodeWebhookSecret(keys.webhook).length, 32)
    for (const file of ['keys.json', 'webhook-secret.json'])
      assert.equal((await stat(join(folder, file))).mode & 0o777, 0o600)
  })
})
