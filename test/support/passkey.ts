import { createHash, generateKeyPairSync, randomBytes, sign, type KeyObject } from 'node:crypto'

import { isoCBOR } from '@simplewebauthn/server/helpers'

import type { Shown, Visitor } from './sign-in.ts'

/** A passkey of an authenticator in memory, whose counter stays 0. */
export interface TestPasskey {
  id: string
  publicKey: KeyObject
  privateKey: KeyObject
}

const makePasskey = (): TestPasskey => ({
  id: randomBytes(16).toString('base64url'),
  ...generateKeyPairSync('ec', { namedCurve: 'P-256' }),
})

const sha256 = (of: string | Buffer): Buffer => createHash('sha256').update(of).digest()

const PRESENT_AND_VERIFIED = 0x05
const HAS_CREDENTIAL = 0x40

const authenticatorData = (
  { baseUrl }: Visitor,
  flags: number,
  more: Buffer = Buffer.alloc(0),
): Buffer =>
  Buffer.concat([sha256(new URL(baseUrl).hostname), Buffer.from([flags, 0, 0, 0, 0]), more])

/** AAGUID, length of the id, id, and the key in COSE. */
const credentialData = ({ id, publicKey }: TestPasskey): Buffer => {
  const bytes = Buffer.from(id, 'base64url')
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  const [kty, alg, crv] = [
    [1, 2],
    [3, -7],
    [-1, 1],
  ] as const
  const point = [x, y].map(
    (text, index) => [-2 - index, new Uint8Array(Buffer.from(text, 'base64url'))] as const,
  )
  const cose = isoCBOR.encode(new Map<number, number | Uint8Array>([kty, alg, crv, ...point]))
  return Buffer.concat([Buffer.alloc(16), Buffer.from([0, bytes.length]), bytes, cose])
}

const post = async (visitor: Visitor, path: string, body: object): Promise<Shown> =>
  await visitor.send(path, {
    method: 'POST',
    headers: { origin: visitor.baseUrl, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const ask = async (visitor: Visitor, path: string, type: string): Promise<Buffer> => {
  const { challenge } = JSON.parse((await post(visitor, `${path}/options`, {})).text) as {
    challenge: string
  }
  return Buffer.from(JSON.stringify({ type, challenge, origin: visitor.baseUrl }))
}

const encode = (parts: Record<string, Buffer | Uint8Array>) =>
  Object.fromEntries(
    Object.entries(parts).map(([name, part]) => [name, Buffer.from(part).toString('base64url')]),
  )

const responseOf = ({ id }: TestPasskey, parts: Record<string, Buffer | Uint8Array>) => ({
  id,
  rawId: id,
  type: 'public-key',
  response: encode(parts),
  clientExtensionResults: {},
})

/** Adds a passkey to the account of somebody who is signed in. */
export const offerPasskey = async (visitor: Visitor, passkey: TestPasskey): Promise<Shown> => {
  const path = '/auth/account/passkey'
  const clientDataJSON = await ask(visitor, path, 'webauthn.create')
  const flags = PRESENT_AND_VERIFIED | HAS_CREDENTIAL
  const authData = authenticatorData(visitor, flags, credentialData(passkey))
  const attestationObject = isoCBOR.encode(
    new Map<string, string | Uint8Array<ArrayBuffer> | Map<string, string>>([
      ['fmt', 'none'],
      ['attStmt', new Map<string, string>()],
      ['authData', new Uint8Array(authData)],
    ]),
  )
  return await post(visitor, path, responseOf(passkey, { clientDataJSON, attestationObject }))
}

/** Adds a new passkey, and returns it. */
export const addPasskey = async (visitor: Visitor): Promise<TestPasskey> => {
  const passkey = makePasskey()
  const { status, text } = await offerPasskey(visitor, passkey)
  if (status !== 200) throw new Error(text)
  return passkey
}

/** Signs in with a passkey on the page of a sign-in. */
export const usePasskey = async (
  visitor: Visitor,
  page: string,
  passkey: TestPasskey,
): Promise<Shown> => {
  const path = `${page}/passkey`
  const clientDataJSON = await ask(visitor, path, 'webauthn.get')
  const data = authenticatorData(visitor, PRESENT_AND_VERIFIED)
  const signature = sign(
    'sha256',
    Buffer.concat([data, sha256(clientDataJSON)]),
    passkey.privateKey,
  )
  const parts = { clientDataJSON, authenticatorData: data, signature }
  return await post(visitor, path, responseOf(passkey, parts))
}
