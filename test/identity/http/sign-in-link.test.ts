import assert from 'node:assert/strict'
import { before, test } from 'node:test'

import { decodeJwt } from 'jose'

import { send } from '../../support/request.ts'
import { useService } from '../../support/service.ts'
import { addAccount, BUILTIN, operateUser, signIn } from '../../support/sign-in.ts'

/** An api with an issuer elsewhere, as it is after AUTH=builtin was left. */
const service = useService({ roles: ['api'] })
let builtin: string

before(async () => {
  const { baseUrl } = await service.startSecondApi(BUILTIN)
  builtin = baseUrl
})

const ask = (baseUrl: string, path: string, token: string, body?: object) =>
  send(
    baseUrl + path,
    {
      method: body ? 'POST' : 'GET',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    },
    body && Buffer.from(JSON.stringify(body)),
  )

const signInBuiltin = async () => {
  const at = { ...service, baseUrl: builtin }
  const email = await addAccount(at)
  const { tokens } = await signIn(at, email)
  const token = tokens.access_token
  await ask(builtin, '/users/api-keys', token, { name: 'of before' })
  return { email, id: String(decodeJwt(token).sub), token }
}

/** User and API keys that a token of the issuer elsewhere leads to. */
const read = async (subject: string) => {
  const token = await service.token(subject)
  const user = await ask(service.baseUrl, '/users', token)
  const keys = await ask(service.baseUrl, '/users/api-keys', token)
  return { id: user.body['id'], keys: (JSON.parse(keys.bytes.toString()) as object[]).length }
}

test('a subject of the issuer elsewhere is the user of an account once an operator says so', async () => {
  const { email, id, token } = await signInBuiltin()
  const subject = `issuer|${id}`
  await operateUser(service, { verb: 'link', email, subject })
  assert.deepEqual(await read(subject), { id, keys: 1 })
  assert.equal((await read(`${subject}2`)).id, `${subject}2`)
  assert.equal((await ask(service.baseUrl, '/users', token)).status, 401)
})

test('a subject with the same address is somebody else without a link', async () => {
  const { email, id } = await signInBuiltin()
  await service.sql`insert into app_user (id, name, email) values ('same', 'same', ${email})`
  assert.notEqual((await read('same')).id, id)
})

test('a subject that owns something, or has another address, is not linked', async () => {
  const { email } = await signInBuiltin()
  const token = await service.token('busy')
  await ask(service.baseUrl, '/users/api-keys', token, { name: 'own' })
  const link = (subject: string) => operateUser(service, { verb: 'link', email, subject })
  await assert.rejects(link('busy'), /owns tasks, API keys or publishers/)
  await service.sql`insert into app_user (id, name, email) values ('other', 'o', 'o@example.com')`
  await assert.rejects(link('other'), /has signed in as o@example\.com/)
})
