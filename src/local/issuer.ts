import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { SignJWT, calculateJwkThumbprint, exportJWK, generateKeyPair, importJWK } from 'jose'
import type { JWK } from 'jose'

import { DEVELOPMENT_ISSUER } from '../process/settings/faults.ts'
import { keepSecret } from './keys.ts'

/** `aud` of the tokens of the development issuer. */
export const DEVELOPMENT_AUDIENCE = 'kiln'

const ALGORITHM = 'ES256'
const PATH = '/.well-known/jwks.json'
/** A working day, so that the token printed at the start lasts as long as the terminal it was printed in. */
const TOKEN_SECONDS = 12 * 3600

/** The private key of the development issuer as a JWK, made once and kept in `<dataDir>/issuer.json`. */
export const loadIssuerKey = async (dataDir: string): Promise<JWK> =>
  await keepSecret(join(dataDir, 'issuer.json'), async () => {
    const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true })
    const key = await exportJWK(privateKey)
    return { ...key, alg: ALGORITHM, use: 'sig', kid: await calculateJwkThumbprint(key) }
  })

/** Signs a bearer token for a user; `subject` becomes the owner of everything made with it. Throws for one that the api refuses. */
export const signToken = async (key: JWK, subject: string): Promise<string> => {
  if (subject.length < 1 || subject.length > 255 || subject === 'anonymous')
    throw new Error(
      `a token is for a user of 1 to 255 characters other than "anonymous", got ${JSON.stringify(subject.slice(0, 80))}`,
    )
  return await new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM, ...(key.kid === undefined ? {} : { kid: key.kid }) })
    .setIssuer(DEVELOPMENT_ISSUER)
    .setAudience(DEVELOPMENT_AUDIENCE)
    .setSubject(subject)
    .setIssuedAt()
    .setExpirationTime(new Date(Date.now() + TOKEN_SECONDS * 1000))
    .sign(await importJWK(key, ALGORITHM))
}

export interface Issuer {
  jwksUrl: string
  close(): Promise<void>
}

/** Serves the public key on 127.0.0.1, port 0 being a free one. */
export const startIssuer = async (key: JWK, port = 0): Promise<Issuer> => {
  const body = JSON.stringify({ keys: [publicPart(key)] })
  const server = createServer((request, response) => {
    const found = request.method === 'GET' && request.url === PATH
    response.writeHead(found ? 200 : 404, { 'content-type': 'application/json' })
    response.end(found ? body : '{}')
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const { port: actual } = server.address() as AddressInfo
  return {
    jwksUrl: `http://127.0.0.1:${actual}${PATH}`,
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const publicPart = ({ d: _private, ...rest }: JWK): JWK => rest
