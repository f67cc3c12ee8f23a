import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

import type * as Worker from '@temporalio/worker'

import { ROOT } from './root.ts'

const FOLDER = join(ROOT, '.built')
const PREFIX = 'workflow-bundle'
const SOURCES = join(ROOT, 'workflows')
const MONTH_MS = 30 * 86_400_000

/**
 * Bundles our workflows, again only when they or the packages have changed, and returns the path: it takes five seconds
 * of a processor, and otherwise each worker makes its own. Its name says what it was made of, so that neither a process
 * that was killed nor two that make one at once leave a bundle of other workflows in its place.
 */
export const bundleWorkflows = async (): Promise<string> => {
  const key = await makeKey()
  const path = join(FOLDER, `${PREFIX}-${key}.cjs`)
  if (existsSync(path)) return path
  // Not in our own bundle, where parts of the package are left out.
  const { DefaultLogger, bundleWorkflowCode } = createRequire(import.meta.url)(
    '@temporalio/worker',
  ) as typeof Worker
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(SOURCES, 'index.ts'),
    workflowInterceptorModules: [join(SOURCES, 'platform/trace.ts')],
    logger: new DefaultLogger('WARN'),
  })
  // A source that changed meanwhile is in it, or is not.
  if ((await makeKey()) !== key) return await bundleWorkflows()
  await mkdir(FOLDER, { recursive: true })
  await writeFile(`${path}.${process.pid}`, code)
  await rename(`${path}.${process.pid}`, path)
  await dropOld()
  return path
}

/** A process that was started with one may still read it. */
const dropOld = async (): Promise<void> => {
  for (const name of await readdir(FOLDER)) {
    const path = join(FOLDER, name)
    // Another process may have dropped it.
    const found = name.startsWith(PREFIX) && (await stat(path).catch(() => undefined))
    if (found && found.mtimeMs < Date.now() - MONTH_MS) await rm(path, { force: true })
  }
}

const makeKey = async (): Promise<string> => {
  const found = await readdir(SOURCES, { recursive: true })
  const names = found.filter((name) => name.endsWith('.ts')).toSorted()
  const paths = [...names.map((name) => join(SOURCES, name)), join(ROOT, 'package-lock.json')]
  const hash = createHash('sha256').update(ROOT)
  for (const path of paths) hash.update(await readFile(path))
  return hash.digest('hex').slice(0, 16)
}
