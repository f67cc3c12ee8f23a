import { createHash } from 'node:crypto'
import { mkdir, readFile, readdir, rename, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'

import type * as Worker from '@temporalio/worker'

import { ROOT } from './root.ts'

const FOLDER = join(ROOT, '.built')
const KEY = join(FOLDER, 'workflow-bundle.key')
const SOURCES = join(ROOT, 'workflows')

/**
 * Path of the bundle of our workflows, made anew only when they or the packages have changed: it takes five seconds of a
 * processor, and otherwise each worker makes its own.
 */
export const bundleWorkflows = async (): Promise<string> => {
  const path = join(FOLDER, 'workflow-bundle.cjs')
  const key = await makeKey()
  if ((await readFile(KEY, 'utf8').catch(() => '')) === key) return path
  // Not in our own bundle, where parts of the package are left out.
  const { DefaultLogger, bundleWorkflowCode } = createRequire(import.meta.url)(
    '@temporalio/worker',
  ) as typeof Worker
  const { code } = await bundleWorkflowCode({
    workflowsPath: join(SOURCES, 'index.ts'),
    logger: new DefaultLogger('WARN'),
  })
  await mkdir(FOLDER, { recursive: true })
  await place(path, code)
  await place(KEY, key)
  return path
}

const makeKey = async (): Promise<string> => {
  const names = (await readdir(SOURCES)).toSorted()
  const paths = [...names.map((name) => join(SOURCES, name)), join(ROOT, 'package-lock.json')]
  const hash = createHash('sha256').update(ROOT)
  for (const path of paths) hash.update(await readFile(path))
  return hash.digest('hex')
}

const place = async (path: string, text: string): Promise<void> => {
  await writeFile(`${path}.${process.pid}`, text)
  await rename(`${path}.${process.pid}`, path)
}
