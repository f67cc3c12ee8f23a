/**
 * Writes `packages/client/src/generated/openapi.ts`: the types of the client, made from the OpenAPI document of the routes. It does nothing
 * while the file is that of this document. openapi-typescript does not run on TypeScript 7, so it is installed with a
 * TypeScript of its own, from `tools/openapi-types`, when it is first needed.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { cp, mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'

import { ROOT } from '../src/local/root.ts'
import { listRoutes } from './docs/endpoints.ts'

const TYPES = join(ROOT, 'packages/client/src/generated/openapi.ts')
const PINNED = join(ROOT, 'tools/openapi-types')
/** A member of a body that has a default may be left out. */
const OPTIONS = ['--default-non-nullable', 'false']
const INSTALLED = join(ROOT, '.built/openapi-types')

/** Throws when the packages cannot be installed, or the document cannot be read. */
export const writeOpenApiTypes = async (): Promise<void> => {
  const document = JSON.stringify(withoutErrors(await readDocument()))
  const lock = await readLock()
  const hash = createHash('sha256').update(lock).update(document).update(OPTIONS.join())
  const stamp = `// ${hash.digest('hex')}\n`
  if (existsSync(TYPES) && (await readFile(TYPES, 'utf8')).startsWith(stamp)) return
  await install(lock)
  // Another run may do the same.
  const unfinished = `${INSTALLED}/${process.pid}`
  await writeFile(`${unfinished}.json`, document)
  const program = join(INSTALLED, 'node_modules/openapi-typescript/bin/cli.js')
  run(process.execPath, [program, `${unfinished}.json`, ...OPTIONS, '--output', `${unfinished}.ts`])
  const types = await readFile(`${unfinished}.ts`, 'utf8')
  await mkdir(dirname(TYPES), { recursive: true })
  await writeFile(`${unfinished}.ts`, stamp + types)
  await rename(`${unfinished}.ts`, TYPES)
  await rm(`${unfinished}.json`)
}

const readLock = (): Promise<string> => readFile(join(PINNED, 'package-lock.json'), 'utf8')

/** Installs the TypeScript before 7, which still resolves as `node10`; returns its compiler. */
export const installOlderCompiler = async (): Promise<string> => {
  await install(await readLock())
  return join(INSTALLED, 'node_modules/typescript/lib/tsc.js')
}

interface Operation {
  parameters?: { name: string; in: string; schema: object }[]
  responses: Record<string, unknown>
}

export interface Document {
  info: object
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

interface Schema {
  type?: string
  properties?: Record<string, object>
}

/** Reads the document as the service serves it. */
export const readDocument = async (): Promise<Document> => {
  const route = listRoutes().find(({ path }) => path === '/openapi.json')
  const response = await route?.handler({} as never)
  if (!response || !('body' in response)) throw new Error('no route returns the OpenAPI document')
  return structuredClone(response.body) as Document
}

/** All rejections have one shape, and the client throws them: their types at each route would be nine tenths of the file. */
const withoutErrors = (document: Document): Document => {
  for (const operation of Object.values(document.paths).flatMap(Object.values) as Operation[])
    operation.responses = {
      ...Object.fromEntries(
        Object.entries(operation.responses).filter(([status]) => Number(status) < 400),
      ),
      default: ERROR,
    }
  return document
}

const ERROR = {
  description: 'A rejection.',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
}

const install = async (lock: string): Promise<void> => {
  const installed = join(INSTALLED, 'package-lock.json')
  const isThere = existsSync(join(INSTALLED, 'node_modules/openapi-typescript'))
  if (isThere && existsSync(installed) && (await readFile(installed, 'utf8')) === lock) return
  await cp(PINNED, INSTALLED, { recursive: true })
  // All packages there are of development, and vite has set NODE_ENV to production before.
  run('npm', ['ci', '--include=dev', '--no-audit', '--no-fund', '--silent'])
}

const run = (command: string, args: string[]): void => {
  const { status, error, stdout, stderr } = spawnSync(command, args, {
    cwd: INSTALLED,
    encoding: 'utf8',
    shell: command === 'npm' && process.platform === 'win32',
  })
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed: ${error?.message ?? stdout + stderr}`)
}

if (process.argv[1] === import.meta.filename) await writeOpenApiTypes()
