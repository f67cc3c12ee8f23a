import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'

import { ROOT } from '../src/local/root.ts'
import { IMAGE_MEMBERS } from '../packages/client/src/lib/upload.ts'
import { readDocument } from './openapi-types.ts'
import type { Document } from './openapi-types.ts'
import { installPython } from './python.ts'
import { withoutLinks } from './readme.ts'
import { nameBuild, readVersion, toPython } from './version.ts'

const TOOLS = join(ROOT, 'tools/python')
export const REQUIREMENTS = join(TOOLS, 'requirements.txt')
export const PYTHON_CLIENT = join(ROOT, 'packages/python')
export const PYTHON_ENGINE = join(ROOT, 'packages/engine-python')
const PACKAGE = join(PYTHON_CLIENT, 'src/kiln_client')

/**
 * Writes what the Python client has of the document, and the client without `async`, which is made from that with it, unless
 * they are there. Returns the folder of the programs that do so. Throws Skipped where there is no Python.
 */
export const writePythonClient = async (): Promise<string> => {
  const bin = await installPython('python', REQUIREMENTS)
  const document = JSON.stringify(adaptToPython(await readDocument()))
  const hash = createHash('sha256').update(document)
  const sources = (await readdir(join(PACKAGE, '_async'))).map((name) =>
    join(PACKAGE, '_async', name),
  )
  for (const path of [REQUIREMENTS, join(TOOLS, 'generate.py'), ...sources.toSorted()])
    if (path.endsWith('.py') || path === REQUIREMENTS) hash.update(await readFile(path))
  const stamp = hash.digest('hex')
  const stampPath = join(PACKAGE, '_sync/.stamp')
  if (existsSync(stampPath) && (await readFile(stampPath, 'utf8')) === stamp) return bin
  await mkdir(join(PACKAGE, '_sync'), { recursive: true })
  const path = join(PACKAGE, '_sync/.document.json')
  await writeFile(path, document)
  runPython(bin, [join(TOOLS, 'generate.py'), path, PACKAGE])
  await rm(path)
  await writeFile(stampPath, stamp)
  return bin
}

/** Builds the wheels and the source distributions. Throws Skipped where there is no Python. */
export const buildPython = async (out: string): Promise<void> => {
  const bin = await writePythonClient()
  for (const folder of [PYTHON_CLIENT, PYTHON_ENGINE]) await buildOne(bin, folder, out)
}

const buildOne = async (bin: string, source: string, out: string): Promise<void> => {
  // Elsewhere, because the build backend ships the .gitignore of a repository around it.
  const folder = await mkdtemp(join(tmpdir(), 'kiln-python-'))
  try {
    for (const name of ['src', 'pyproject.toml'])
      await cp(join(source, name), join(folder, name), { recursive: true, filter: isShipped })
    const project = await readFile(join(source, 'pyproject.toml'), 'utf8')
    const version = toPython(nameBuild(await readVersion()))
    await writeFile(
      join(folder, 'pyproject.toml'),
      project.replace(/(?<=^version = ")[^"]+/m, version),
    )
    await cp(join(ROOT, 'LICENSE'), join(folder, 'LICENSE'))
    const page = await readFile(join(source, 'README.md'), 'utf8')
    await writeFile(join(folder, 'README.md'), withoutLinks(page))
    // The build backend is one of the pinned packages, so that nothing is fetched.
    runPython(bin, ['-m', 'build', '--no-isolation', '--outdir', out, folder])
  } finally {
    await rm(folder, { recursive: true })
  }
}

const isShipped = (path: string): boolean => !/^\.|^__pycache__$/.test(basename(path))

const runPython = (bin: string, args: readonly string[]): void => {
  const { status, error, stdout, stderr } = spawnSync(join(bin, 'python'), args, {
    encoding: 'utf8',
  })
  if (status !== 0)
    throw new Error(`python ${args.join(' ')} failed: ${error?.message ?? stdout + stderr}`)
}

/** The schemas that the client takes and returns: images may be files, and a body may name its idempotency key. */
const adaptToPython = ({ paths, components, ...document }: Document): object => {
  const schemas = structuredClone(components.schemas)
  const creations = Object.entries(paths).flatMap(([path, { post }]) =>
    path.startsWith('/proxy/')
      ? (/schemas\/(\w+Body)"/.exec(JSON.stringify(post ?? {}))?.[1] ?? [])
      : [],
  )
  for (const name of creations) {
    const { properties = {} } = schemas[name] ?? {}
    for (const member of IMAGE_MEMBERS) {
      const schema = properties[member]
      if (schema === undefined) continue
      if (member === 'images') Object.assign(schema, { items: FILE })
      else properties[member] = FILE
    }
    if ('kiln_start_after' in properties) properties['kiln_start_after'] = START_TIME
    properties['idempotency_key'] = { type: 'string' }
  }
  for (const [name, path] of Object.entries(QUERIES)) {
    const { parameters = [] } = paths[path]?.['get'] ?? {}
    const query = parameters.filter((one) => one.in === 'query' && !PAGING.has(one.name))
    const properties = Object.fromEntries(query.map((one) => [one.name, one.schema]))
    schemas[name] = { type: 'object', properties }
  }
  return { ...document, paths: {}, components: { schemas } }
}

/** Queries that have a type, by its name. */
const QUERIES = {
  NodeSearch: '/nodes/search',
  TaskFilter: '/tasks',
  EventFilter: '/events',
  ReviewQuery: '/nodes/{nodeId}/reviews',
  HostNodeQuery: '/nodes/{nodeId}/versions/{version}/host-nodes',
}

/** Members of a query of which the client takes care. */
const PAGING: ReadonlySet<string> = new Set(['after'])

const FILE = { type: 'string', customTypePath: 'kiln_client.files.FileInput' }
const START_TIME = { type: 'string', customTypePath: 'kiln_client.arguments.StartTime' }
