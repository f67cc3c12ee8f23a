import { createHash, randomUUID } from 'node:crypto'
import { after, before } from 'node:test'

import { SignJWT, exportJWK, generateKeyPair } from 'jose'
import type { JWTPayload } from 'jose'

import { respond, startWebhookReceiver } from './receiver.ts'
import type { Reply, WebhookReceiver } from './receiver.ts'

/** An issuer of identity tokens on this machine, in place of that of a CI. */
export interface IdentityIssuer {
  /** Value of `iss`, in the form of a GitHub server of one's own. */
  issuer: string
  server: WebhookReceiver
  /** Scripts what the API of its code host says of the repository of `JOB`, or another: nothing, or its path and files. */
  setRepository(id: string, repository: { path: string; files: readonly string[] } | Reply): void
  /** Value of `aud` unless a test says otherwise. */
  audience: string
  /** The public key, as the key set has it. */
  publicKey: object
  /** Signs claims over those of a job that is trusted; undefined leaves one out. */
  sign(claims?: Record<string, unknown>, header?: Record<string, unknown>): Promise<string>
  /** The same as this issuer, under another path with a reply of its own for the discovery or the keys. */
  addIssuer(options?: { discovery?: Reply; keys?: Reply }): string
}

/** A job of the repository with this number, whatever it is called. */
export const JOB = {
  repository: 'acme/image-tools',
  repository_id: '4242',
  repository_owner_id: '77',
  workflow_ref: 'acme/image-tools/.github/workflows/publish.yml@refs/tags/v1.0.0',
  environment: 'Release',
  ref: 'refs/tags/v1.0.0',
  sha: createHash('sha1').update('commit').digest('hex'),
  run_id: '901',
}

const FILE = '.github/workflows/publish.yml'

const startIdentityIssuer = async (
  audienceOf: () => string,
): Promise<Omit<IdentityIssuer, 'audience'>> => {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const key = { ...(await exportJWK(publicKey)), kid: 'one', alg: 'RS256', use: 'sig' }
  const server = await startWebhookReceiver()
  const json = (body: unknown) => respond(200, {}, JSON.stringify(body))
  const addIssuer: IdentityIssuer['addIssuer'] = ({ discovery, keys } = {}) => {
    const path = `/${randomUUID()}/_services/token`
    const issuer = server.url(path)
    const usual = json({ issuer, jwks_uri: `${issuer}/keys` })
    server.script(`${path}/.well-known/openid-configuration`, discovery ?? usual)
    server.script(`${path}/keys`, keys ?? json({ keys: [key] }))
    return issuer
  }
  const issuer = addIssuer()
  const api = new URL(issuer).pathname.replace('/_services/token', '/api/v3')
  const setRepository: IdentityIssuer['setRepository'] = (id, repository) => {
    const path = `${api}/repositories/${id}`
    if (typeof repository === 'function') return server.script(path, repository)
    server.script(path, json({ full_name: repository.path }))
    for (const file of [FILE, ...repository.files])
      server.script(
        `${path}/contents/${file}`,
        repository.files.includes(file) ? json({}) : respond(404),
      )
  }
  setRepository(JOB.repository_id, { path: JOB.repository, files: [FILE] })
  const now = () => Math.floor(Date.now() / 1000)
  return {
    issuer,
    server,
    setRepository,
    publicKey: key,
    addIssuer,
    sign: async (claims = {}, header = {}) => {
      const times = { iat: now(), nbf: now() - 600, exp: now() + 300 }
      const all = { iss: issuer, aud: audienceOf(), jti: randomUUID(), ...times, ...JOB, ...claims }
      const kept = Object.entries(all).filter(([, value]) => value !== undefined)
      return await new SignJWT(Object.fromEntries(kept) as JWTPayload)
        .setProtectedHeader({ alg: 'RS256', kid: 'one', typ: 'JWT', ...header })
        .sign(privateKey)
    },
  }
}

/** Starts it before the first test of a file and stops it after the last. */
export const useIdentityIssuer = (): IdentityIssuer => {
  const issuer = {} as IdentityIssuer
  before(async () => {
    Object.assign(issuer, await startIdentityIssuer(() => issuer.audience))
  })
  after(() => (issuer as Partial<IdentityIssuer>).server?.stop())
  return issuer
}
