import { raiseIfHandled } from '../../operate/raise.ts'
import type { Runtime, Truth } from '../../types.ts'
import type { GlobFiles } from '../../text/path/glob.ts'
import { decode } from '../../text/string/codec.ts'
import { ifKnown } from '../../values/make-value.ts'

/** The absolute, normal path if it lies in the pack; all other paths are the machine's, and unknown. */
export const locate = (rt: Runtime, path: string): string | undefined => {
  const normal = rt.files.normalise(path)
  return rt.files.isInside(normal) ? normal : undefined
}

export const isFile = (rt: Runtime, path: string): Truth => {
  const inside = locate(rt, path)
  if (inside !== undefined) return rt.files.isFile(inside)
  return isAbovePack(rt, path) ? false : undefined
}

export const isFolder = (rt: Runtime, path: string): Truth => {
  const inside = locate(rt, path)
  if (inside !== undefined) return rt.files.isFolder(inside)
  return isAbovePack(rt, path) ? true : undefined
}

export const exists = (rt: Runtime, path: string): Truth =>
  ifKnown(isFile(rt, path), (file) => file || isFolder(rt, path))

/** The folders that hold the pack are there, whatever else is in them. */
const isAbovePack = (rt: Runtime, path: string): boolean => {
  const normal = rt.files.normalise(path)
  return normal === '/' || rt.files.root.startsWith(`${normal}/`)
}

/**
 * Content of a file of the pack. Undefined for any other, for one above the limit, and for one that is missing, which
 * raises where the pack is prepared for it.
 */
export const readBytes = (rt: Runtime, path: string): Uint8Array | undefined => {
  const inside = locate(rt, path)
  if (inside === undefined) return undefined
  const content = rt.files.read(inside)
  if (content === undefined) {
    if (!rt.files.isFile(inside)) raiseIfHandled(rt, 'FileNotFoundError', inside)
    return undefined
  }
  if (content.length > rt.budget.limits.fileBytes) return rt.budget.spent('file', inside)
  rt.budget.step(content.length >> 10)
  return content
}

/** Text of a file of the pack, by the encoding the pack names; line ends are those of Python's text mode. */
export const readText = (
  rt: Runtime,
  path: string,
  encoding = 'utf-8',
  errors = 'strict',
): string | undefined => {
  const bytes = readBytes(rt, path)
  const text = bytes === undefined ? undefined : decode(bytes, encoding, errors)
  return text?.replaceAll(/\r\n?/g, '\n')
}

/** The files of the pack for globs; paths are as the pack wrote them. */
export const globFilesOf = (rt: Runtime): GlobFiles => ({
  list: (folder) => {
    const inside = locate(rt, folder)
    const names = inside === undefined ? undefined : rt.files.list(inside)
    if (names !== undefined) rt.budget.step((names.length >> 4) + 1)
    return names
  },
  exists: (path) => exists(rt, path) === true,
  isFolder: (path) => isFolder(rt, path) === true,
  charge: (comparisons) => rt.budget.step(comparisons >> 8),
})
