import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'

import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from 'jose'

import { DEVELOPMENT_ALGORITHM, signToken } from '../platform/process/development-issuer.ts'
import { keepSecret } from './keys.ts'

const PATH = '/.well-known/jwks.json'

/** The private key of the development issuer as a JWK, made once and kept in `<dataDir>/issuer.json`. */
export const loadIssuerKey = async (dataDir: string): Promise<JWK> =>
  await keepSecret(join(dataDir, 'issuer.json'), async () => {
    const { privateKey } = await generateKeyPair(DEVELOPMENT_ALGORITHM, { extractable: true })
    const key = await exportJWK(privateKey)
    return {
      ...key,
      alg: DEVELOPMENT_ALGORITHM,
      use: 'sig',
      kid: await calculateJwkThumbprint(key),
    }
  })

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

/** Prints a token for a user, alone on the last line of standard output; everything else goes to standard error. */
export const printToken = async (dataDir: string, subject: string | undefined): Promise<number> => {
  if (subject === undefined)
    throw new Error('the user is absent: npm run kiln -- token --user alice')
  const token = await signToken(await loadIssuerKey(dataDir), subject)
  process.stderr.write(`bearer token of ${subject}, good for 12 hours:\n`)
  process.stdout.write(`${token}\n`)
  return 0
}
