import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { SignJWT, exportJWK, generateKeyPair } from 'jose'

import { findPort } from '../../src/local/port.ts'
import { ROOT } from '../../src/local/root.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { waitFor } from '../support/wait.ts'
import type { Engine } from './engine.ts'

/** docker-compose.yml as it is, with settings of its own and an issuer of tokens beside it. */
export interface Stack {
  url: string
  project: string
  token(subject: string): Promise<string>
  /** Runs `docker compose` on the file of this checkout, or on that of another with its own image. */
  compose(args: readonly string[], checkout?: Checkout): Promise<string>
  docker: Engine['docker']
  /** The rows of a query, its columns separated by `|`. */
  query(sql: string): Promise<string[]>
  remove(): Promise<void>
}

export interface Checkout {
  folder: string
  image: string
}

const ISSUER = 'https://issuer.test/'
const AUDIENCE = 'kiln'
const SERVE = `require('http').createServer((_, response) => response.end(process.env.JWKS)).listen(8080)`

interface StackOptions {
  /** Settings beside those that `.env` needs. */
  settings?: Record<string, string>
  /** Services beside those of the file, and what is different of them. */
  services?: Record<string, object>
  profiles?: readonly string[]
}

/** Writes the files of a stack; `up` starts it. */
export const makeStack = async (
  { docker }: Engine,
  name: string,
  { settings = {}, services = {}, profiles = [] }: StackOptions = {},
): Promise<Stack> => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-compose-'))
  const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true })
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256' }] })
  const port = await findPort()
  const values = { ...(await makeSettings(port)), ...settings }
  const envFile = join(folder, '.env')
  const lines = Object.entries(values).map(([key, value]) => `${key}=${value}\n`)
  await writeFile(envFile, lines.join(''))
  const writeOverride = async (checkout?: Checkout): Promise<string> => {
    const path = join(folder, `${checkout ? 'other' : 'override'}.json`)
    const image = checkout ? { image: checkout.image } : {}
    const own = ['migrate', 'api', 'worker-core', 'worker-media'].map((name) => [name, image])
    const serve = { command: ['node', '-e', SERVE], environment: { JWKS: jwks } }
    const issuer = { image: 'node:24-bookworm-slim', ...serve, init: true }
    const all = { ...Object.fromEntries(own), issuer, ...services }
    await writeFile(path, JSON.stringify({ services: all }))
    return path
  }
  const compose: Stack['compose'] = async (args, checkout) => {
    const root = checkout?.folder ?? ROOT
    const files = [join(root, 'docker-compose.yml'), await writeOverride(checkout)]
    const options = [
      `--project-name=${name}`,
      `--project-directory=${root}`,
      `--env-file=${envFile}`,
      '--progress=quiet',
      ...files.map((file) => `--file=${file}`),
      ...profiles.map((profile) => `--profile=${profile}`),
    ]
    return await docker(['compose', ...options, ...args])
  }
  const down = ['down', '--volumes', '--remove-orphans', '--timeout', '5']
  // What a run left that was killed.
  await compose(down)
  const psql = ['exec', '-T', 'postgres', 'psql', '-At', '--username=kiln', '--dbname=kiln']
  return {
    url: `http://127.0.0.1:${port}`,
    project: name,
    docker,
    compose,
    token: (subject) =>
      new SignJWT()
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(ISSUER)
        .setAudience(AUDIENCE)
        .setSubject(subject)
        .setIssuedAt()
        .setExpirationTime('12h')
        .sign(privateKey),
    query: async (sql) =>
      (await compose([...psql, '--command', sql])).split('\n').filter((line) => line !== ''),
    remove: async () => {
      await compose(down)
      await rm(folder, { recursive: true })
    },
  }
}

/** Makes the settings that `.env.example` asks for. */
const makeSettings = async (port: number): Promise<Record<string, string>> => {
  const key = () => randomBytes(32).toString('base64')
  const password = () => randomBytes(24).toString('hex')
  return {
    POSTGRES_PASSWORD: password(),
    KILN_DATABASE_PASSWORD: password(),
    TEMPORAL_DATABASE_PASSWORD: password(),
    TEMPORAL_UI_PORT: String(await findPort()),
    PUBLIC_URL: `http://127.0.0.1:${port}`,
    PORT: String(port),
    // The gateway of the network, from which this machine calls.
    TRUST_PROXY: '172.16.0.0/12',
    AUTH_ISSUER: ISSUER,
    AUTH_AUDIENCE: AUDIENCE,
    AUTH_JWKS_URL: 'http://issuer:8080/jwks.json',
    SIGNING_KEYS: key(),
    SECRETS_KEYS: key(),
    WEBHOOK_DEFAULT_SECRET: `whsec_${key()}`,
    RATE_LIMITS: 'off',
  }
}

export const containerOf = ({ project }: Stack, service: string): string =>
  `${project}-${service}-1`

/** When a container was started last and whether its health check says yes. */
const readState = async ({ docker }: Stack, container: string) => {
  const form =
    '{{.State.StartedAt}} {{.State.Status}} {{if .State.Health}}{{.State.Health.Status}}{{end}}'
  const [startedAt = '', status, health] = (await docker(['inspect', '--format', form, container]))
    .trim()
    .split(' ')
  return { startedAt, healthy: status === 'running' && (health ?? 'healthy') === 'healthy' }
}

/** Does something that ends a container and waits until it is healthy again. */
export const untilStartedAgain = async (
  stack: Stack,
  service: string,
  end: () => Promise<unknown>,
): Promise<void> => {
  const container = containerOf(stack, service)
  const { startedAt } = await readState(stack, container)
  await end()
  const isAgain = async (): Promise<boolean> => {
    const now = await readState(stack, container)
    return now.startedAt !== startedAt && now.healthy
  }
  await waitFor(`${service} is healthy again`, isAgain, 3 * PATIENCE_MS)
}

/** Ends the process of a container from within, as a crash does, so that its restart policy holds. */
export const crash = async ({ docker, ...stack }: Stack, service: string): Promise<void> => {
  const kill = 'kill -9 $(cat /proc/1/task/1/children)'
  await docker(['exec', containerOf({ docker, ...stack }, service), 'sh', '-c', kill])
}

/** Takes a container off the network of PostgreSQL and Temporal while something is done. */
export const whileCutOff = async (
  stack: Stack,
  service: string,
  work: () => Promise<void>,
): Promise<void> => {
  const ends = [`${stack.project}_data`, containerOf(stack, service)]
  await stack.docker(['network', 'disconnect', ...ends])
  await work()
  await stack.docker(['network', 'connect', '--alias', service, ...ends])
}
