import { createHash } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'

import type { Page } from '../../src/platform/http/docs/pages.ts'

const TYPES: Record<string, string> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.jpg': 'image/jpeg',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.mp4': 'video/mp4',
  '.woff2': 'font/woff2',
}
const COMPRESSED = new Set(['.html', '.js', '.css', '.svg', '.txt'])

export const digest = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

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
    const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY }
    const [br, gz] = await Promise.all([
      promisify(brotliCompress)(bytes, { params }),
      promisify(gzip)(bytes, { level: 9 }),
    ])
    await Promise.all([
      writeFile(join(folder, `${path}.br`), br),
      writeFile(join(folder, `${path}.gz`), gz),
    ])
  }
  const contentType = TYPES[end]
  if (contentType === undefined)
    throw new Error(`${path}: tools/pages/write-page.ts knows no type of it`)
  return { path, contentType, sha256: digest(bytes), immutable, compressed }
}

/** 0.4 s for the largest file; the highest, 11, takes 4 s for a tenth less. */
const BROTLI_QUALITY = 9
