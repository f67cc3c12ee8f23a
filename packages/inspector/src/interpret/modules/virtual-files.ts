import { joinPath, normalizePath } from '../text/path/posix.ts'
import { compareText } from '../text/string/code-points.ts'

/**
 * The files a pack can see: the archive's entries under an invented absolute root, `/host/custom_nodes/<name>`. Paths
 * are absolute, with `/`, and normalised (no `.`, `..`, double or trailing slash).
 */
export interface VirtualFiles {
  /** Folder of the pack. */
  root: string
  /** Dotted name under which the pack is imported: the last segment of `root`. */
  packageName: string
  /** Inside the pack, where everything is known; all other paths are the machine's. */
  isInside(path: string): boolean
  isFile(path: string): boolean
  /** Every file of the pack. */
  files(): Iterable<string>
  isFolder(path: string): boolean
  /** Names in the folder, sorted by code point; undefined if it is no folder of the pack. */
  list(path: string): string[] | undefined
  /** Content; undefined if there is no such file, or its content was not kept. */
  read(path: string): Uint8Array | undefined
  /** Size in bytes; undefined if there is no such file, or its content was not kept. */
  size(path: string): number | undefined
  /** Absolute and normalised; a relative path starts at the host's folder, outside the pack. */
  normalise(path: string): string
}

const HOST = '/host'

/** True for a path in the folder that stands for the host's, which is another on every machine. */
export const isHostPath = (text: string): boolean => /^\/host(?:[/\\]|$)/.test(text)

/** `files` and `paths` are keyed relative to the pack's root; `folder` is the name of its folder. */
export function makeVirtualFiles(
  pack: { files: ReadonlyMap<string, Uint8Array>; paths: Iterable<string> },
  folder: string,
): VirtualFiles {
  const root = `${HOST}/custom_nodes/${folder}`
  const { folders, files } = makeTree(root, pack.paths)
  const contentOf = (path: string) => pack.files.get(path.slice(root.length + 1))
  return {
    root,
    packageName: folder,
    isInside: (path) => path === root || path.startsWith(`${root}/`),
    isFile: (path) => files.has(path),
    files: () => files,
    isFolder: (path) => folders.has(path),
    list: (path) => folders.get(path)?.slice(),
    read: contentOf,
    size: (path) => contentOf(path)?.length,
    normalise: (path) => normalizePath(joinPath(HOST, path)).replace(/^\/+/, '/'),
  }
}

function makeTree(root: string, paths: Iterable<string>) {
  const files = new Set<string>()
  const names = new Map<string, Set<string>>([[root, new Set()]])
  for (const path of paths) {
    if (path.endsWith('/')) addFolders(names, `${root}/${path.slice(0, -1)}/`)
    else {
      files.add(`${root}/${path}`)
      addFolders(names, `${root}/${path}`)
    }
  }
  const folders = new Map<string, string[]>()
  for (const [path, children] of names) folders.set(path, [...children].toSorted(compareText))
  return { folders, files }
}

/** Enters a file, or a folder that ends in a slash, in every folder above it. */
function addFolders(names: Map<string, Set<string>>, path: string): void {
  const end = path.lastIndexOf('/')
  const folder = path.slice(0, end)
  const name = path.slice(end + 1)
  const children = names.get(folder)
  if (children) {
    if (name) children.add(name)
    return
  }
  names.set(folder, new Set(name ? [name] : []))
  addFolders(names, folder)
}
