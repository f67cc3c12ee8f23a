import type { ArchiveEntry } from './archive/entry.ts'

/** A Python package as an archive holds it: the view that interpreter and scan read. */
export interface Pack {
  /** Prefix of the pack within the archive: `''`, or `folder/` if one folder wraps everything. */
  root: string
  /** Every file of the archive, under its path there, also those outside of the root. */
  entries: readonly ArchiveEntry[]
  /** Contents of the text kinds below the root, by path relative to the root. */
  files: ReadonlyMap<string, Uint8Array>
  /** Paths of all files below the root, relative to it, sorted by code unit. */
  paths: readonly string[]
  /** Name of the folder that a host has it in, as it is spelt: the node's id, else that of the wrapping folder. */
  folder: string | undefined
  /** Names under which the pack may import itself, as `normalName` makes them. */
  ownNames: readonly string[]
  /** True when the root holds `__init__.py`: without it no host can load the pack. */
  hasInit: boolean
}

/** Finds the root of the pack in an archive's files and gathers what lies below it. */
export const makePack = (
  entries: readonly ArchiveEntry[],
  { nodeId }: { nodeId?: string | undefined } = {},
): Pack => {
  const root = findRoot(entries.map((entry) => entry.path))
  const below = entries.filter((entry) => entry.path.startsWith(root))
  const relative = (entry: ArchiveEntry): string => entry.path.slice(root.length)
  const files = new Map(
    below.flatMap((entry) => (entry.text ? [[relative(entry), entry.text] as const] : [])),
  )
  const paths = below.map(relative).toSorted()
  const names = [nodeId, root.slice(0, -1), findProjectText(files.get('pyproject.toml'), 'name')]
  return {
    root,
    entries,
    files,
    paths,
    folder: nodeId ?? (root === '' ? undefined : root.slice(0, -1)),
    ownNames: [...new Set(names.map((name) => normalName(name ?? '')))].filter(Boolean),
    hasInit: paths.includes('__init__.py'),
  }
}

/** A name of a pack for comparison: `Demo.Pack`, `demo-pack` and `demo_pack` are one. */
export const normalName = (name: string): string => name.toLowerCase().replaceAll(/[-_.]/g, '')

const findRoot = (paths: readonly string[]): string => {
  if (isRoot(paths, '')) return ''
  const tops = new Set(paths.filter((path) => !isBesides(path)).map(topFolder))
  const [only] = tops
  return tops.size === 1 && only && isRoot(paths, only) ? only : ''
}

const isRoot = (paths: readonly string[], root: string): boolean =>
  paths.some((path) => path === `${root}__init__.py` || path === `${root}pyproject.toml`)

/** True for files that archivers and version control leave beside a wrapping folder. */
const isBesides = (path: string): boolean => /^(__MACOSX\/|\.git|\.DS_Store$)/.test(path)

/** The first folder of a path with its slash; '' for a file at the archive's root. */
const topFolder = (path: string): string => path.slice(0, path.indexOf('/') + 1)

/**
 * A text of `[project]` in a pyproject.toml, or of the table of a tool. Reads lines, not TOML: a file that is broken elsewhere
 * still has it. Strings of several lines go first, because they may hold anything.
 */
export const findProjectText = (
  toml: Uint8Array | undefined,
  member: keyof typeof PATTERNS,
): string | undefined => {
  if (!toml) return undefined
  const text = new TextDecoder().decode(toml).replaceAll(/"""[^]*?"""|'''[^]*?'''/g, '""')
  let table = ''
  for (const line of text.split(/\r?\n/)) {
    table = /^\s*\[([^\]]*)\]/.exec(line)?.[1]?.trim() ?? table
    const found = PATTERNS[member].get(table.replace(TOOL, 'tool'))?.exec(line)
    if (found) return found[1] ?? found[2]
  }
  return undefined
}

const TOOL = /^tool\.[\w-]+$/

const directly = (member: string) => new RegExp(`^\\s*${member}\\s*=\\s*(?:"([^"]*)"|'([^']*)')`)

/** Patterns by the header of a table; `''` is before all headers. */
const ofProject = (member: string) =>
  new Map([
    ['project', directly(member)],
    [
      '',
      new RegExp(
        `^\\s*project\\s*(?:\\.\\s*${member}\\s*=|=\\s*\\{[^}]*?(?<![\\w-])${member}\\s*=)\\s*(?:"([^"]*)"|'([^']*)')`,
      ),
    ],
  ])
const ofTool = (member: string) => new Map([['tool', directly(member)]])

const PATTERNS = {
  name: ofProject('name'),
  version: ofProject('version'),
  'requires-python': ofProject('requires-python'),
  PublisherId: ofTool('PublisherId'),
  DisplayName: ofTool('DisplayName'),
  Icon: ofTool('Icon'),
  Banner: ofTool('Banner'),
}
