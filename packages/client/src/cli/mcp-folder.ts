import { access, readFile, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve, sep } from 'node:path'

import { parseNamed, UsageError } from './error.ts'
import { quote } from './words.ts'

/** Reads files of a kind below a folder alone: a model names them, and what it names is sent elsewhere. */
const readBelow = async (folder: string, name: string, kind: RegExp) => {
  const root = await realpath(folder)
  const path = await realpath(resolve(root, name)).catch(() => '')
  return path.startsWith(root + sep) && kind.test(path) ? await readFile(path) : undefined
}

export const makeReadImage = (folder: string) => async (image: string) => {
  if (/^(https?|data):/.test(image)) return image
  const content = await readBelow(folder, image, PICTURE)
  if (content) return content
  // Nothing is said of files elsewhere, not even that they are there.
  throw new UsageError(`${quote(image)} is no link, and no picture in the folder of this server`)
}

export const makeReadWorkflow = (folder: string) => async (file: string) => {
  const content = await readBelow(folder, file, /\.(json|png|jpe?g|webp|mp4)$/i)
  if (content) return parseNamed(content, quote(file))
  throw new UsageError(
    `${quote(file)} is no JSON, PNG, JPEG, WebP or MP4 file in the folder of this server`,
  )
}

const PICTURE = /\.(avif|bmp|gif|hei[cf]|jpe?g|png|svg|tiff?|webp)$/i

/** Names of new files: a picture or a video, and no hidden one. */
const RESULT = /^[^.].*\.(avif|gif|jpe?g|mp4|png|tiff?|webm|webp)$/i

export const makeToNewFile = (folder: string) => async (file: string) => {
  const root = await realpath(folder)
  const place = await realpath(dirname(resolve(root, file))).catch(() => '')
  const path = join(place, basename(file))
  const isBelow = path.startsWith(root + sep) && RESULT.test(basename(file))
  if (!isBelow)
    throw new UsageError(`${quote(file)} is no picture or video in the folder of this server`)
  const isThere = await access(path).then(
    () => true,
    () => false,
  )
  if (isThere) throw new UsageError(`${quote(file)} is there already: another name keeps both`)
  return path
}
