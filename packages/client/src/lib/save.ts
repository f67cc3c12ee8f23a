import { ArgumentError } from './argument.ts'

/** Functions of Node that this needs. */
interface Files {
  realpath(path: string): Promise<string>
  stat(path: string): Promise<{ isFile(): boolean; isDirectory(): boolean }>
  writeFile(path: string, bytes: Uint8Array): Promise<void>
  rename(from: string, to: string): Promise<void>
  rm(path: string, options: { force: true }): Promise<void>
}
interface Paths {
  dirname(path: string): string
  join(...parts: string[]): string
}

/** Modules that a browser has not: a bundler leaves alone what it cannot read. */
const MODULES = ['node:fs/promises', 'node:path'] as const

/** Writes what `read` returns into a file, which is whole or as it was before. Looks at the path first. */
export const save = async (path: string, read: () => Promise<Uint8Array>): Promise<void> => {
  const [files, paths] = (await Promise.all(
    MODULES.map((name) => import(name) as Promise<unknown>),
  ).catch(() => {
    throw new ArgumentError('save needs files, which a browser has not: use download')
  })) as [Files, Paths]
  const target = await files.realpath(path).catch(() => path)
  const found = await files.stat(target).catch(() => undefined)
  if (found?.isFile() === false)
    throw new ArgumentError('path must name a file, or none that is there')
  const folder = paths.dirname(target)
  const place = await files.stat(folder).catch(() => undefined)
  if (place?.isDirectory() !== true)
    throw new ArgumentError(`path must be in a folder that is there: ${folder} is none`)
  const bytes = await read()
  const scratch = paths.join(folder, `.${crypto.randomUUID()}.part`)
  try {
    await files.writeFile(scratch, bytes)
    await files.rename(scratch, target)
  } finally {
    await files.rm(scratch, { force: true })
  }
}
