import { spawnSync } from 'node:child_process'
import { chmod, cp, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { build } from 'esbuild'
import type { BuildOptions } from 'esbuild'

import { ROOT } from '../src/local/root.ts'
import { buildPython } from './build-python.ts'
import { writeOpenApiTypes } from './openapi-types.ts'
import { Skipped } from './python.ts'
import { withoutLinks } from './readme.ts'
import { nameBuild } from './version.ts'

const CLIENT = join(ROOT, 'packages/client')
const INSPECTOR = join(ROOT, 'packages/inspector')

/**
 * Builds what is installed elsewhere into a folder: the packages of the client and of the inspector, each as a folder and as
 * what `npm install` takes, and the wheels and source distributions of those in Python.
 */
export const buildPackages = async (out: string): Promise<void> => {
  await buildClient(join(out, 'client'))
  await buildInspector(join(out, 'inspector'))
  await writeOpenApiTypes()
  for (const name of ['client', 'inspector']) {
    compile(`packages/${name}/tsconfig.types.json`, join(out, name, 'types'))
    run('npm', ['pack', '--silent', '--pack-destination', out, join(out, name)])
  }
  await buildPython(out).catch((error: unknown) => {
    if (!(error instanceof Skipped)) throw error
    process.stdout.write(`the packages in Python are not built: ${error.message}\n`)
  })
}

/** Bundles code with the packages that it needs, and puts the license of each beside it. */
const bundle = async (options: BuildOptions & { outdir: string }): Promise<void> => {
  const { metafile } = await build({
    bundle: true,
    format: 'esm',
    target: 'es2022',
    absWorkingDir: ROOT,
    logLevel: 'warning',
    ...options,
    metafile: true,
  })
  const names = Object.keys(metafile.inputs).flatMap(
    (path) => /^node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [],
  )
  for (const name of new Set(names)) await copyLicense(name, options.outdir)
}

const copyLicense = async (name: string, out: string): Promise<void> => {
  const folder = join(ROOT, 'node_modules', name)
  const license = (await readdir(folder)).find((file) => /^licen[cs]e/i.test(file))
  if (license === undefined) throw new Error(`${name} has no license that can be shipped`)
  await cp(join(folder, license), join(out, 'licenses', name.replace('/', '-')))
}

/** Makes the package of the client but for its types: the library and the command-line tool, which the image runs, too. */
export const buildClient = async (out: string): Promise<void> => {
  await bundle({ entryPoints: [join(CLIENT, 'src/index.ts')], outdir: out })
  const split = { splitting: true, chunkNames: '[hash]' }
  const entryPoints = [join(CLIENT, 'src/cli/kiln.ts')]
  await bundle({ entryPoints, outdir: out, platform: 'node', ...split })
  const manifest = { bin: { kiln: './kiln.js' }, exports: { '.': LIBRARY }, ...ENTRY }
  await describe(CLIENT, out, manifest, 'docs/client.md')
}

/** Makes the package of the inspector. All that it needs is in it: its grammar, as a dependency, would bring a compiler. */
const buildInspector = async (out: string): Promise<void> => {
  const grammar = 'tree-sitter-python.wasm'
  await bundle({
    entryPoints: ['index.ts', 'kiln-inspect.ts'].map((name) => join(INSPECTOR, 'src', name)),
    outdir: out,
    platform: 'node',
    splitting: true,
    chunkNames: '[hash]',
    plugins: [
      {
        name: 'grammar',
        setup: ({ onLoad }) =>
          onLoad({ filter: /inspector\/src\/python\/parse\.ts$/ }, async ({ path }) => ({
            contents: (await readFile(path, 'utf8')).replace(
              `require.resolve('tree-sitter-python/${grammar}')`,
              `require.resolve('./${grammar}')`,
            ),
            loader: 'ts',
          })),
      },
    ],
  })
  const modules = join(ROOT, 'node_modules')
  await cp(join(modules, 'tree-sitter-python', grammar), join(out, grammar))
  const binding = 'web-tree-sitter.wasm'
  await cp(join(modules, 'web-tree-sitter', binding), join(out, binding))
  const library = join(INSPECTOR, 'src/interpret/library/python')
  await cp(library, join(out, 'python'), { recursive: true })
  const manifest = {
    bin: { 'kiln-inspect': './kiln-inspect.js' },
    exports: { '.': LIBRARY, './command': './kiln-inspect.js' },
    ...ENTRY,
    dependencies: {},
    // The types of all sources are made, and those of the library need these.
    files: ['*.js', '*.wasm', 'python', 'licenses', 'types/{index,inspection,versions}.d.ts'],
  }
  await describe(INSPECTOR, out, manifest, 'packages/inspector/README.md')
  await copyLicense('tree-sitter-python', out)
}

const LIBRARY = { types: './types/index.d.ts', default: './index.js' }
/** The same for a compiler or bundler that does not read `exports`. */
const ENTRY = { main: LIBRARY.default, types: LIBRARY.types }

/** Writes what a package has beside its code. */
const describe = async (
  source: string,
  out: string,
  own: object & { bin: Record<string, string> },
  page: string,
): Promise<void> => {
  for (const path of Object.values(own.bin)) {
    const text = await readFile(join(out, path), 'utf8')
    await writeFile(join(out, path), `#!/usr/bin/env node\n${text.replace(/^#!.*\n/, '')}`)
    await chmod(join(out, path), 0o755)
  }
  const text = await readFile(join(source, 'package.json'), 'utf8')
  const { private: _, devDependencies: __, ...manifest } = JSON.parse(text) as Manifest
  // Provenance names the repository, which the release knows.
  const url = process.env['REPOSITORY_URL']
  const repository = url === undefined ? {} : { repository: { type: 'git', url } }
  const version = nameBuild(String(manifest['version']))
  const all = { ...manifest, version, ...own, ...repository }
  await writeFile(join(out, 'package.json'), `${JSON.stringify(all, undefined, 2)}\n`)
  await cp(join(ROOT, 'LICENSE'), join(out, 'LICENSE'))
  await writeFile(join(out, 'README.md'), withoutLinks(await readFile(join(ROOT, page), 'utf8')))
}

type Manifest = Record<string, unknown>

/** Runs tsc, which prints what it finds. Throws when it fails. */
export const compile = (project: string, out: string, flags: readonly string[] = []): void =>
  run(join(ROOT, 'node_modules/.bin/tsc'), ['-p', project, '--outDir', out, ...flags])

const run = (command: string, args: readonly string[]): void => {
  const options = { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' } as const
  const { status, error } = spawnSync(command, args, options)
  if (status !== 0) throw new Error(`${command} failed${error ? `: ${error.message}` : ''}`)
}
