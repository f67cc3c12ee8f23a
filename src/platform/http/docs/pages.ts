import { createReadStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { sendCopy, type Asked, type Copies } from '../serve/copies.ts'
import type { StreamResponse } from '../route.ts'

/** A file that tools/pages or tools/console has made, beside the copies of it that are compressed. */
export interface Page extends Omit<Copies, 'open' | 'headers'> {
  /** Path of the file; `.br` and `.gz` behind it are its copies. */
  path: string
}

export type Pages = ReadonlyMap<string, Page>

/** Beside the code, in `dist/` as in `.built/`: `pages` is the documentation, `console` the console. */
const FOLDER = join(import.meta.dirname, '../../../..')

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

/** Reads a page, with the whole address of the picture of its preview: those who show previews know no other. */
export const readHtml = async ({ path }: Page, publicUrl: string): Promise<string> =>
  (await readFile(path, 'utf8')).replace(
    /(?<=<meta\s+property="og:image"\s+content=")(?=\/)/,
    new URL(publicUrl).origin,
  )

/** Sends a page under a policy, as `sendCopy` does. */
export const sendPage = (
  page: Page,
  policy: string,
  request: Asked,
  status?: number,
): StreamResponse =>
  sendCopy(
    {
      ...page,
      headers: { 'content-security-policy': policy },
      open: (end) => createReadStream(`${page.path}${end}`),
    },
    request,
    status,
  )
