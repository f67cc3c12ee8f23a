import { compareText } from '../string/code-points.ts'

/** pathlib's PurePosixPath, as normal text: no double or trailing slash and no `.`, but `..` stays. */

/** `str(PurePosixPath(*parts))`: an absolute part throws away what is before it. */
export const makePurePath = (...parts: readonly string[]): string => {
  const start = parts.findLastIndex((part) => part.startsWith('/'))
  const used = parts.slice(Math.max(0, start))
  const segments = used.flatMap((part) => part.split('/')).filter(isSegment)
  const first = start < 0 ? '' : (used[0] ?? '')
  // POSIX gives two leading slashes a meaning of their own; three are one again.
  const root = start < 0 ? '' : /^\/\/(?!\/)/.test(first) ? '//' : '/'
  return root + segments.join('/') || '.'
}

/** Root (`/`) first, then each name. */
export const partsOf = (path: string): string[] => {
  const root = rootOf(path)
  const names = path.split('/').filter(isSegment)
  return root === '' ? names : [root, ...names]
}

/** `/`, `//` or empty. */
const rootOf = (path: string): string => /^\/*/.exec(path)?.[0] ?? ''

export const nameOf = (path: string): string => {
  const name = path.slice(path.lastIndexOf('/') + 1)
  return name === '.' ? '' : name
}

export const suffixOf = (path: string): string => {
  const name = nameOf(path)
  const dot = name.lastIndexOf('.')
  return dot > 0 && dot < name.length - 1 ? name.slice(dot) : ''
}

export const stemOf = (path: string): string => {
  const name = nameOf(path)
  return name.slice(0, name.length - suffixOf(path).length)
}

/** The folder that holds it; a root and the current folder are their own. */
export const parentOf = (path: string): string => {
  const at = path.lastIndexOf('/')
  if (path === rootOf(path)) return path
  return at < 0 ? '.' : path.slice(0, at) || path.slice(0, at + 1)
}

/** From the nearest to the last. */
export const parentsOf = (path: string): string[] => {
  const parents: string[] = []
  for (let at = path; parentOf(at) !== at; at = parentOf(at)) parents.push(parentOf(at))
  return parents
}

/** The path with another last name; undefined if it has none or the other is no name. */
export const withName = (path: string, name: string): string | undefined => {
  if (nameOf(path) === '' || name === '' || name.includes('/') || name === '.') return undefined
  return makePurePath(parentOf(path), name)
}

/** The path with another suffix, `''` or one with its dot; undefined for any other. */
export const withSuffix = (path: string, suffix: string): string | undefined => {
  if (suffix !== '' && !/^\.[^/]+$/.test(suffix)) return undefined
  return withName(path, stemOf(path) + suffix)
}

/** Returns the part of the path after the folder; undefined if the path is not below it. */
export const relativeTo = (path: string, folder: string): string | undefined => {
  const [parts, base] = [partsOf(path), partsOf(folder)]
  const isBelow = base.length <= parts.length && base.every((part, at) => parts[at] === part)
  return isBelow ? makePurePath(...parts.slice(base.length)) : undefined
}

/** The order of paths: name by name. */
export const comparePaths = (a: string, b: string): number => {
  const [x, y] = [partsOf(a), partsOf(b)]
  for (let at = 0; at < Math.min(x.length, y.length); at += 1) {
    const order = compareText(x[at] ?? '', y[at] ?? '')
    if (order !== 0) return order
  }
  return x.length - y.length
}

const isSegment = (part: string): boolean => part !== '' && part !== '.'
