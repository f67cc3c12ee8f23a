import { spawnSync } from 'node:child_process'
import { chmod, cp } from 'node:fs/promises'
import { join } from 'node:path'

import { build } from 'esbuild'

import { ROOT } from '../src/local/root.ts'
import { writeOpenApiTypes } from './openapi-types.ts'

const CLIENT = join(ROOT, 'client')
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
  for (const name of ['client/package.json', 'client/README.md', 'LICENSE'])
    await cp(join(ROOT, name), join(out, name.replace('client/', '')))
  if (types) await writeTypes(join(out, 'types'))
}

const writeTypes = async (out: string): Promise<void> => {
  await writeOpenApiTypes()
  const { status, error } = spawnSync(
    join(ROOT, 'node_modules/.bin/tsc'),
    ['-p', 'client/tsconfig.json', '--outDir', out],
    { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' },
  )
  if (status !== 0) throw new Error(`tsc failed${error ? `: ${error.message}` : ''}`)
}
