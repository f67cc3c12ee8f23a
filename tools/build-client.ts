import { spawnSync } from 'node:child_process'
import { chmod, cp, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { build } from 'esbuild'

import { ROOT } from '../src/local/root.ts'
import { writeOpenApiTypes } from './openapi-types.ts'
import { withoutLinks } from './readme.ts'

const CLIENT = join(ROOT, 'packages/client')
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
    entryPoints: [join(CLIENT, 'src/index.ts')],
    outfile: join(out, 'index.js'),
  })
  await build({
    ...BUNDLED,
    entryPoints: [join(CLIENT, 'src/cli/kiln.ts')],
    outfile: join(out, 'kiln.js'),
    platform: 'node',
    banner: { js: '#!/usr/bin/env node' },
  })
  await chmod(join(out, 'kiln.js'), 0o755)
  await writeFile(join(out, 'package.json'), JSON.stringify(await describePackage(), undefined, 2))
  await cp(join(ROOT, 'LICENSE'), join(out, 'LICENSE'))
  const page = await readFile(join(ROOT, 'docs/client.md'), 'utf8')
  await writeFile(join(out, 'README.md'), withoutLinks(page))
  if (types) await writeTypes(join(out, 'types'))
}

const describePackage = async (): Promise<object> => {
  const text = await readFile(join(CLIENT, 'package.json'), 'utf8')
  // What the library depends on is in it; its types are in those of the library. All else is bundled alone.
  const { private: _, devDependencies: __, ...manifest } = JSON.parse(text) as Manifest
  return {
    ...manifest,
    exports: { '.': { types: './types/index.d.ts', default: './index.js' } },
    bin: { kiln: './kiln.js' },
  }
}

type Manifest = Record<string, unknown>

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
