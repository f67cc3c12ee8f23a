import { ArgumentError } from './argument.ts'

type Files = typeof import('node:fs/promises')
type Paths = typeof import('node:path')

/** Modules that a browser has not: a bundler leaves alone what it cannot read. */
const MODULES = ['node:fs/promises', 'node:path'] as const

/** Writes bytes into a file, which is whole or as it was before. */
export const save = async (path: string, bytes: Uint8Array): Promise<void> => {
  const [files, paths] = (await Promise.all(
    MODULES.map((name) => import(name) as Promise<unknown>),
  ).catch(() => {
    throw new ArgumentError('save needs files, which a browser has not: use download')
  })) as [Files, Paths]
  const target = await files.realpath(path).catch(() => path)
  const found = await files.stat(target).catch(() => undefined)
  if (found?.isFile() === false)
    throw new ArgumentError('path must name a file, or none that is there')
  const scratch = paths.join(paths.dirname(target), `.${crypto.randomUUID()}.part`)
  try {
    await files.writeFile(scratch, bytes)
    await files.rename(scratch, target)
  } finally {
    await files.rm(scratch, { force: true })
  }
}
