import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** A file that tools/pages or tools/console has made, beside the copies of it that are compressed. */
export interface Page {
  /** Path of the file; `.br` and `.gz` behind it are its copies. */
  path: string
  contentType: string
  /** Lower-case hex, of the file that is not compressed. */
  sha256: string
  /** The name changes with the bytes, so that it may be kept for ever. */
  immutable: boolean
  /** True when there are compressed copies. */
  compressed: boolean
}

export type Pages = ReadonlyMap<string, Page>

/** Beside the code, in `dist/` as in `.built/`: `pages` is the documentation, `console` the console. */
const FOLDER = join(import.meta.dirname, '../../..')

/** The pages by the rest of their address behind /docs/ or /console/. Without any where they were not built. */
export const loadPages = async (name: 'pages' | 'console'): Promise<Pages> => {
  const folder = join(FOLDER, name)
  const text = await readFile(join(folder, 'pages.json'), 'utf8').catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return '{}'
      throw error
    },
  )
  const listed = Object.entries(JSON.parse(text) as Record<string, Page>)
  return new Map(listed.map(([name, page]) => [name, { ...page, path: join(folder, page.path) }]))
}
