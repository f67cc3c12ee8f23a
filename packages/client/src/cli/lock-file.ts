import { parseNamed, readNamed, UsageError } from './error.ts'

/** A file that names versions of packs: a lock, or a snapshot of a manager of the host. */
export interface LockFile {
  path: string
  /** Versions by the id of the pack. */
  versions: Record<string, string>
  /** A sentence for each entry that names no version. */
  issues: string[]
  /** Describes the entry of a pack, for the sentence that says why it could not be compared. */
  describe(nodeId: string): string
}

interface Entry {
  /** Place in the file, such as `packs[0]`. */
  place: string
  node: unknown
  version: unknown
}

/** @throws a UsageError where the file is no lock at all */
export const readLockFile = async (path: string | undefined): Promise<LockFile | undefined> => {
  if (path === undefined) return undefined
  const entries = listEntries(parseNamed(await readNamed(path), path))
  if (!entries) throw new UsageError(`${path} is no lock file: it has no list "packs"`)
  const pairs = entries.flatMap(({ node, version }) =>
    isText(node) && isText(version) ? [[node, version] as const] : [],
  )
  return {
    path,
    versions: Object.fromEntries(pairs),
    issues: entries.flatMap((entry) => issueOf(entry).map((issue) => `${path}: ${issue}`)),
    describe: (nodeId) => {
      const isOf = ({ node }: Entry) => isText(node) && node.toLowerCase() === nodeId.toLowerCase()
      const entry = entries.find(isOf)
      if (!entry) return `${path} has no entry of it.`
      const [issue = `${entry.place}, ${nodeId}, names ${String(entry.version)}`] = issueOf(entry)
      return `${path}: ${issue}.`
    },
  }
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''

const issueOf = ({ place, node, version }: Entry): string[] => {
  if (!isText(node)) return [`${place} names no pack ("node")`]
  return isText(version) ? [] : [`${place}, ${node}, has no version`]
}

const listEntries = (value: unknown): Entry[] | undefined => {
  const { packs, cnr_custom_nodes: restored } = fieldsOf(value)
  if (typeof restored === 'object' && restored !== null)
    return Object.entries(restored).map(([node, version]) => ({
      place: 'cnr_custom_nodes',
      node,
      version: version as unknown,
    }))
  if (!Array.isArray(packs)) return undefined
  return packs.map((pack: unknown, index) => {
    const { node, version } = fieldsOf(pack)
    return { place: `packs[${index}]`, node, version }
  })
}

const fieldsOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
