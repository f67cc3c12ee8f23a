import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { decodeJwt } from 'jose'

import { send } from '../support/request.ts'
import { useService } from '../support/service.ts'
import {
  addAccount,
  BUILTIN,
  linkIn,
  operateUser,
  PASSWORD,
  signIn,
  Visitor,
} from '../support/sign-in.ts'

const service = useService({ roles: ['api'], env: BUILTIN })

const ask = (path: string, token: string) =>
  send(service.baseUrl + path, { headers: { authorization: `Bearer ${token}` } })

describe('an account of AUTH=builtin', () => {
  test('is added by an operator, sets its password by the link, signs in and calls the API', async () => {
    const email = 'First@Example.com'
    const printed = await operateUser(service, {
      verb: 'add',
      email: email.toLowerCase(),
      isAdmin: true,
    })
    const link = linkIn(printed)
    const visitor = new Visitor(service.baseUrl)
    const shown = await visitor.get(link)
    assert.match(shown.text, /first@example\.com/)
    assert.equal((await visitor.post(link, { password: PASSWORD })).status, 200)
    const { tokens } = await signIn(service, email)
    const claims = decodeJwt(tokens.access_token)
    assert.equal(claims.iss, `${service.baseUrl}/auth`)
    assert.equal(claims['role'], 'admin')
    const me = await ask('/users', tokens.access_token)
    assert.deepEqual(
      [me.status, me.body['id'], me.body['email']],
      [200, claims.sub, 'first@example.com'],
    )
    assert.equal((await ask('/admin/operations', tokens.access_token)).status, 200)
  })

  test('without --admin is no platform admin', async () => {
    const { tokens } = await signIn(service, await addAccount(service))
    assert.equal((await ask('/users', tokens.access_token)).status, 200)
    assert.equal((await ask('/admin/operations', tokens.access_token)).status, 403)
  })
})
