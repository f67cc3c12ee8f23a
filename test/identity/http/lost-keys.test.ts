import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'

import { countSecrets, forgetSecrets } from '../../../src/operate/secrets.ts'
import { makeSecrets } from '../../../src/platform/adapters/secrets.ts'
import { AUDIT } from '../../registry/db/registry-place.ts'
import { expectStatus, makeClient } from '../../support/client.ts'
import { useService } from '../../support/service.ts'
import { addAccount, BUILTIN, signIn, Visitor } from '../../support/sign-in.ts'

const service = useService({ roles: ['api'], env: BUILTIN })
const OTHER = randomBytes(32).toString('base64')
const lost = makeSecrets({ keys: [OTHER] })

describe('SECRETS_KEYS that are lost', () => {
  test('stop nobody but who signs in, and are forgotten by a command', async () => {
    const email = await addAccount(service)
    const { tokens } = await signIn(service, email)
    const own = makeClient(service.baseUrl, tokens.access_token)
    const { body } = expectStatus(await own.post('/users/api-keys', { name: 'ci' }), 201)
    expectStatus(await own.get('/webhook-secret'), 200)

    const { baseUrl, entry } = await service.startSecondApi({ ...BUILTIN, SECRETS_KEYS: OTHER })
    assert.match(entry.log.join('\n'), /"level":50.*nobody can sign in, because SECRETS_KEYS/)
    const shown = await new Visitor(baseUrl).get('/auth/jwks')
    assert.equal(shown.status, 503)
    assert.equal((JSON.parse(shown.text) as { error: string }).error, 'auth_unavailable')
    expectStatus(
      await makeClient(baseUrl, tokens.access_token).get('/users'),
      503,
      'auth_unavailable',
    )
    const key = { 'x-api-key': String(body['key']) }
    assert.equal((await fetch(`${baseUrl}/tasks`, { headers: key })).status, 200)
    const secret = await fetch(`${baseUrl}/webhook-secret`, { headers: key })
    assert.equal(secret.status, 503)

    const { sql } = service
    const counts = await countSecrets(sql, lost)
    const found = (what: string) => counts.find((count) => count.what === what)
    assert.deepEqual(
      [found('webhooks'), found('headers')?.count],
      [{ what: 'webhooks', count: 1, lost: 1 }, 0],
    )
    assert.ok((found('sign-in')?.lost ?? 0) > 1)
    const forget = { sql, secrets: lost, audit: AUDIT }
    const kept = makeSecrets({ keys: [service.settings['SECRETS_KEYS'] ?? ''] })
    assert.match(
      await forgetSecrets({ ...forget, secrets: kept }, 'sign-in'),
      /nothing was removed$/,
    )
    assert.match(
      await forgetSecrets(forget, 'sign-in'),
      /^\d+ of sign-in that no key opens were removed: start the apis again/,
    )
    assert.match(await forgetSecrets(forget, 'webhooks'), /^1 of webhooks .*GET \/webhook-secret$/)
    assert.deepEqual(
      (await countSecrets(sql, lost)).filter((count) => count.lost > 0),
      [],
    )
    await entry.kill()

    const mended = await service.startSecondApi({ ...BUILTIN, SECRETS_KEYS: OTHER })
    await signIn({ ...service, baseUrl: mended.baseUrl }, email)
    const actions =
      await sql`select target from audit_log where action = 'secrets.forget' order by target`
    assert.deepEqual(
      actions.map(({ target }) => target),
      ['secrets/sign-in', 'secrets/webhooks'],
    )
  })
})
