/**
 * Compiles everything that production needs into `dist/`, or the folder of `--out` (`npm run build`), puts the
 * migrations and the library in Python beside their readers, and bundles the workflows once, so that no worker has to do
 * it at its start. `dist/kiln.mjs` is the command `kiln`, `dist/console` the web console, and beside them is what is
 * installed elsewhere: `build-packages.ts`. `--watch` builds nothing but the console, where a started stack reads it, and
 * again at each change.
 */
import { cp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

import { bundleWorkflowCode, DefaultLogger } from '@temporalio/worker'

import { ROOT } from '../src/local/root.ts'
import { buildClient, buildPackages, compile } from './build-packages.ts'
import { buildConsole, watchConsole } from './console/build.ts'
import { nameBuild, readVersion, toTag } from './version.ts'

const build = async (): Promise<void> => {
  const { values } = parseArgs({
    options: {
      out: { type: 'string', default: join(ROOT, 'dist') },
      /** For tests, beside which the types are checked anyway. */
      'no-check': { type: 'boolean', default: false },
      /** The image of the service runs the client, and nothing is installed from there. */
      'no-packages': { type: 'boolean', default: false },
      watch: { type: 'boolean', default: false },
    },
  })
  if (values.watch) return await watchConsole(join(ROOT, '.built/console'))
  const out = resolve(values.out)
  await rm(out, { recursive: true, force: true })
  compile('tsconfig.build.json', out, values['no-check'] ? ['--noCheck'] : [])
  await cp(join(ROOT, 'src/platform/db/migrations'), join(out, 'src/platform/db/migrations'), {
    recursive: true,
  })
  const name = await nameRelease(join(out, 'src/platform/domain/release.js'))
  const library = 'packages/inspector/src/interpret/library/python'
  await cp(join(ROOT, library), join(out, library), { recursive: true })
  // Compiling this program has made them.
  await cp(join(ROOT, '.built/pages'), join(out, 'pages'), { recursive: true })
  await cp(join(ROOT, '.built/manifest.json'), join(out, 'manifest.json'))
  await buildConsole(join(out, 'console'))
  const bundle = await bundleWorkflows(join(out, 'workflow-bundle.js'))
  const isImage = values['no-check'] || values['no-packages']
  await (isImage ? buildClient(join(out, 'client')) : buildPackages(out))
  if (!values['no-packages']) await buildChart(join(out, 'chart'), name)
  await cp(join(ROOT, 'tools/kiln.mjs'), join(out, 'kiln.mjs'))
  say(`${out} is built as ${name}; the workflow bundle has ${Math.round(bundle / 1000)} kB`)
}

/** Writes the name of this build where processes read it. */
const nameRelease = async (path: string): Promise<string> => {
  const version = await readVersion()
  const name = nameBuild(version)
  const code = await readFile(path, 'utf8')
  await writeFile(path, code.replace(`'${version}'`, `'${name}'`))
  return name
}

/** Copies the chart, which takes the image of this build. */
const buildChart = async (out: string, name: string): Promise<void> => {
  await cp(join(ROOT, 'deploy/helm/kiln'), out, { recursive: true })
  const path = join(out, 'Chart.yaml')
  const text = await readFile(path, 'utf8')
  await writeFile(
    path,
    text.replace(/(?<=^version: ).+/m, name).replace(/(?<=^appVersion: ).+/m, toTag(name)),
  )
}

/** Writes the bundle that WORKFLOW_BUNDLE names in the image; returns its size in bytes. */
const bundleWorkflows = async (path: string): Promise<number> => {
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(ROOT, 'workflows/index.ts'),
    workflowInterceptorModules: [join(ROOT, 'workflows/platform/trace.ts')],
    logger: new DefaultLogger('WARN'),
  })
  await writeFile(path, code)
  return (await stat(path)).size
}

const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}

try {
  await build()
} catch (error) {
  process.stderr.write(`kiln: ${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
