import type { Project } from './parse-project.ts'
import { counted, showBytes } from './words.ts'

/** A pack as it will be published. */
export interface Pack {
  files: readonly { path: string; bytes: number }[]
  /** As `findRoot` says. */
  root: string
  project?: Project | undefined
  /** Why pyproject.toml says nothing; undefined when it does, or is not there. */
  projectIssue?: string | undefined
  archive: { size: number }
}

export type Check = { tone: 'ok' | 'warn' | 'bad'; text: string }

export const ok = (text: string): Check => ({ tone: 'ok', text })
export const warn = (text: string): Check => ({ tone: 'warn', text })
export const bad = (text: string): Check => ({ tone: 'bad', text })

/** Paths that do not count when everything lies in one folder. */
const ASIDE = /^(__MACOSX\/|\.git|\.DS_Store$)/

/**
 * The root of a pack, as the service finds it: the top if it holds `__init__.py` or `pyproject.toml`, else the one folder that
 * everything lies in if that holds one of the two. It ends with a slash unless it is the top.
 */
export const findRoot = (paths: readonly string[]): string => {
  const isRoot = (root: string): boolean =>
    paths.includes(`${root}__init__.py`) || paths.includes(`${root}pyproject.toml`)
  if (isRoot('')) return ''
  const tops = new Set(
    paths.filter((path) => !ASIDE.test(path)).map((path) => /^[^/]+\//.exec(path)?.[0] ?? ''),
  )
  const [top = ''] = tops
  return tops.size === 1 && isRoot(top) ? top : ''
}

/** Most entries, and bytes unpacked of one and of all, that the service takes. */
const MAX = { entries: 10_000, entry: 128 * 2 ** 20, unpacked: 512 * 2 ** 20 }

/** Paths that leave the archive, or that not every system can hold: what `path-rules.ts` of the inspector rejects. */
const BAD_PATH =
  /(^|\/)\.{0,2}(\/|$)|[\\<>:"|?*\p{Cc}]|[. ](\/|$)|(^|\/)(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$)\s*(\.|\/|$)/iu

const checkSizes = ({ files, archive }: Pack, maxBytes: number): Check => {
  const unpacked = files.reduce((sum, { bytes }) => sum + bytes, 0)
  const largest = files.toSorted((one, other) => other.bytes - one.bytes)[0]
  const isLarge = unpacked > MAX.unpacked || (largest?.bytes ?? 0) > MAX.entry
  const over = [
    archive.size > maxBytes && `the archive has more than ${showBytes(maxBytes)}`,
    files.length > MAX.entries && `it has more than ${MAX.entries.toLocaleString('en')} files`,
    isLarge &&
      `unpacked, a file may have ${showBytes(MAX.entry)} and all together ${showBytes(MAX.unpacked)}`,
  ].find((error) => error !== false)
  const named = largest ? `; largest: ${largest.path}, ${showBytes(largest.bytes)}` : ''
  const sizes = `${counted(files.length, 'file')}, ${showBytes(archive.size)} packed, ${showBytes(unpacked)} unpacked${named}`
  if (over === undefined) return ok(sizes)
  return bad(`Too big: ${over} (${sizes}). Leave out models, media and other data.`)
}

const checkPaths = ({ files }: Pack): Check[] => {
  const seen = new Map<string, string>()
  const [twins] = files.flatMap(({ path }) => {
    const key = path.normalize('NFC').toLowerCase()
    const first = seen.get(key)
    seen.set(key, first ?? path)
    return first === undefined ? [] : [`${first} and ${path}`]
  })
  const wrong = files.find(({ path }) => BAD_PATH.test(path))
  return [
    wrong &&
      `Not every system can hold a file of the name ${wrong.path}. Rename it: device names such as nul, and any of < > : " | ? * \\ in a name, cannot be unpacked everywhere.`,
    twins && `${twins} are one file where case does not count. Rename one.`,
  ].flatMap((error) => (error ? [bad(error)] : []))
}

const NO_PROJECT =
  'There is no pyproject.toml at the root. It says what the pack and its version are called.'

/** The form of `PUBLISHER_ID_PATTERN` of the registry; case does not matter. */
const PUBLISHER_ID = /^[a-z][a-z0-9-]{0,63}$/i

/** The form of `VERSION_PATTERN` of the registry: less strict than Semantic Versioning, as packs are. */
const VERSION =
  /^\s*([v=]\s*)*\d+(\.\d+){0,2}(-[\da-z-]+(\.[\da-z-]+)*)?(\+[\da-z-]+(\.[\da-z-]+)*)?\s*$/i

const PRE_RELEASE = ': a pre-release, which is not the latest while another version is active'

/** Endings of files that the registry shows no picture of: those of `picture-address.ts` there. */
const OTHER_KINDS = /\.(svgz?|ico|pdf|heic|bmp|psd|html?|mp4|webm)([?#].*)?$/i

const checkProject = (
  { project, projectIssue, root }: Pack,
  publisherId: string | undefined,
): Check[] => {
  if (!project)
    return [bad(projectIssue ? `pyproject.toml cannot be read: ${projectIssue}` : NO_PROJECT)]
  const { nodeId, node, version, publisherId: named = publisherId } = project
  const early = version.version.split('+')[0]?.includes('-') ? PRE_RELEASE : ''
  const said = `${nodeId} ${version.version} (from ${root}pyproject.toml)${early}`
  const names = VERSION.test(version.version)
    ? ok(said)
    : bad(`${said}: the version must be one of Semantic Versioning, such as 1.1.0 or 1.1.0-beta.1.`)
  const pictures = [node.icon, node.banner_url].flatMap((address) =>
    address && OTHER_KINDS.test(address)
      ? warn(`${address} cannot be shown: only JPEG, PNG, WebP, AVIF, TIFF and GIF are.`)
      : [],
  )
  if (named?.toLowerCase() === publisherId?.toLowerCase()) return [names, ...pictures]
  const other = `pyproject.toml names the publisher ${named}, but this publishes for ${publisherId}.`
  const why = PUBLISHER_ID.test(named ?? '') ? '' : ` ${named} is no valid publisher ID.`
  return [names, ...pictures, warn(`${other}${why} Correct PublisherId in pyproject.toml.`)]
}

const checkRoot = ({ files, root }: Pack): Check[] => [
  ...(root ? [ok(`Everything lies in ${root}, which is the root`)] : []),
  files.some(({ path }) => path === `${root}__init__.py`)
    ? ok(`${root}__init__.py is there`)
    : warn(`Without ${root}__init__.py no nodes are read. A pack needs one.`),
]

export interface Limits {
  /** That it is published for. */
  publisherId: string | undefined
  maxBytes: number
}

/** Checks a pack before it is sent. */
export const checkPackFiles = (pack: Pack, { publisherId, maxBytes }: Limits): Check[] => [
  ...checkProject(pack, publisherId),
  ...checkRoot(pack),
  checkSizes(pack, maxBytes),
  ...checkPaths(pack),
]
