/** Python's `posixpath`, for text paths. What asks the machine (`expanduser`, `realpath`) is not here. */

export const isAbsolute = (path: string): boolean => path.startsWith('/')

/** `os.path.join`: an absolute part throws away what is before it. */
export const joinPath = (first: string, ...parts: readonly string[]): string => {
  let path = first
  for (const part of parts) {
    if (part.startsWith('/')) path = part
    else path += path === '' || path.endsWith('/') ? part : `/${part}`
  }
  return path
}

/** `os.path.split`: folder and last name. */
export const splitPath = (path: string): [string, string] => {
  const at = path.lastIndexOf('/') + 1
  const head = path.slice(0, at)
  return [/[^/]/.test(head) ? withoutSlashes(head) : head, path.slice(at)]
}

export const dirname = (path: string): string => splitPath(path)[0]

export const basename = (path: string): string => path.slice(path.lastIndexOf('/') + 1)

/** `os.path.splitext`: leading dots belong to the name. */
export const splitExtension = (path: string): [string, string] => {
  const start = path.lastIndexOf('/') + 1
  const dot = path.lastIndexOf('.')
  if (dot < start || /^\.*$/.test(path.slice(start, dot))) return [path, '']
  return [path.slice(0, dot), path.slice(dot)]
}

/** `os.path.normpath`: two leading slashes stay, three are one. */
export const normalizePath = (path: string): string => {
  if (path === '') return '.'
  const root = /^\/\/?(?!\/)/.exec(path)?.[0] ?? (path.startsWith('/') ? '/' : '')
  const out: string[] = []
  for (const part of path.split('/')) {
    if (part === '' || part === '.') continue
    const canGoUp = out.length > 0 && out.at(-1) !== '..'
    if (part !== '..' || (!canGoUp && root === '')) out.push(part)
    else if (canGoUp) out.pop()
  }
  return root + out.join('/') || '.'
}

/** `os.path.relpath` of two absolute paths; undefined for an empty or relative one, whose folder is the machine's. */
export const relativePath = (path: string, start: string): string | undefined => {
  if (!isAbsolute(path) || !isAbsolute(start)) return undefined
  const [to, from] = [segments(normalizePath(path)), segments(normalizePath(start))]
  const shared = sharedLength(to, from)
  return [...from.slice(shared).map(() => '..'), ...to.slice(shared)].join('/') || '.'
}

const segments = (path: string): string[] =>
  path.split('/').filter((part) => part !== '' && part !== '.')

const sharedLength = (a: readonly string[], b: readonly string[]): number => {
  let length = 0
  while (length < a.length && length < b.length && a[length] === b[length]) length += 1
  return length
}

/** By hand: an expression bound to the end takes quadratic time on slashes. */
const withoutSlashes = (path: string): string => {
  let end = path.length
  while (path.charAt(end - 1) === '/') end -= 1
  return path.slice(0, end)
}
