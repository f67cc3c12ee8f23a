import { writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'

import type { Page } from '../../src/platform/http/docs/pages.ts'
import { compress, digest } from '../../src/platform/http/serve/copies.ts'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.yml': 'text/plain; charset=utf-8',
  '.json': 'application/json',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.mp4': 'video/mp4',
  '.woff2': 'font/woff2',
}
const COMPRESSED = new Set(['.html', '.js', '.css', '.svg', '.txt', '.json'])

/** Writes a file that an api serves, and its compressed copies beside it, so that no api compresses anything. */
export const writePage = async (
  folder: string,
  path: string,
  { bytes, immutable }: { bytes: Buffer; immutable: boolean },
): Promise<Page> => {
  const end = extname(path)
  const compressed = COMPRESSED.has(end)
  await writeFile(join(folder, path), bytes)
  if (compressed) {
    const copies = Object.entries(await compress(bytes))
    await Promise.all(copies.map(([copy, packed]) => writeFile(join(folder, path + copy), packed)))
  }
  const contentType = TYPES[end]
  if (contentType === undefined)
    throw new Error(`${path}: tools/pages/write-page.ts knows no type of it`)
  return { path, contentType, sha256: digest(bytes), immutable, compressed }
}
