import { spawnSync } from 'node:child_process'
import { chmod, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { build } from 'esbuild'

import { ROOT } from '../src/local/root.ts'
import { writeOpenApiTypes } from './openapi-types.ts'

const CLIENT = join(ROOT, 'packages/client/src')
const BUNDLED = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  absWorkingDir: ROOT,
  logLevel: 'warning',
} as const

/**
 * Makes the package of the client, ready for `npm install` and `npx`: the library and the command-line tool, each in one file,
 * and its types where they are asked for.
 */
export const buildClient = async (out: string, { types }: { types: boolean }): Promise<void> => {
  await build({
    ...BUNDLED,
    entryPoints: [join(CLIENT, 'index.ts')],
    outfile: join(out, 'index.js'),
  })
  await build({
    ...BUNDLED,
    entryPoints: [join(CLIENT, 'cli/kiln.ts')],
    outfile: join(out, 'kiln.js'),
    platform: 'node',
    banner: { js: '#!/usr/bin/env node' },
  })
  await chmod(join(out, 'kiln.js'), 0o755)
  await writeFile(join(out, 'package.json'), JSON.stringify(await describePackage(), undefined, 2))
  await cp(join(ROOT, 'LICENSE'), join(out, 'LICENSE'))
  // The pages that it leads to are not in the package.
  const page = await readFile(join(ROOT, 'docs/client.md'), 'utf8')
  await writeFile(
    join(out, 'README.md'),
    page.replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]+\)/g, '$1'),
  )
  if (types) await writeTypes(join(out, 'types'))
}

const describePackage = async (): Promise<object> => {
  const text = await readFile(join(ROOT, 'package.json'), 'utf8')
  const { version, license, engines, devDependencies } = JSON.parse(text) as Manifest
  return {
    name: 'kiln-client',
    version,
    description: 'The client of Kiln for Node and browsers, and the command-line tool kiln',
    license,
    type: 'module',
    exports: { '.': { types: './types/index.d.ts', default: './index.js' } },
    bin: { kiln: './kiln.js' },
    // It is in the library; its types are in those of the library.
    dependencies: { 'openapi-fetch': devDependencies['openapi-fetch'] },
    engines,
  }
}

interface Manifest {
  version: string
  license: string
  engines: object
  devDependencies: Record<string, string>
}

const writeTypes = async (out: string): Promise<void> => {
  await writeOpenApiTypes()
  compile('packages/client/tsconfig.types.json', out)
}

/** Runs tsc, which prints what it finds. Throws when it fails. */
export const compile = (project: string, out: string, flags: readonly string[] = []): void => {
  const { status, error } = spawnSync(
    join(ROOT, 'node_modules/.bin/tsc'),
    ['-p', project, '--outDir', out, ...flags],
    { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' },
  )
  if (status !== 0) throw new Error(`tsc failed${error ? `: ${error.message}` : ''}`)
}
