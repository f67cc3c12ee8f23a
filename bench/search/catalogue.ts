import { parseVersionNumber } from '../../src/registry/domain/version-number.ts'
import { VERSION_TRANSITIONS } from '../../src/registry/domain/version-transition.ts'
import type { VersionStatus } from '../../src/registry/domain/version.ts'
import { makeRandom } from './random.ts'
import type { Random } from './random.ts'
import { camel, capitalise, drawWord, drawWords, sentence } from './words.ts'

/**
 * A made-up registry, from one seed: of 100,000 nodes 1,000,000 versions and 2,000 publishers. Words are drawn by a power
 * law, as are downloads and the 1 to 500 versions of a node; 3 % of versions are pre-releases, 2 % Flagged, 1 % Banned, as
 * is 1 % of nodes. Each node has random numbers of its own, so that several can be made at once, in any order.
 */
export interface CataloguePlan {
  nodes: number
  publishers: number
  /** Versions of each node; ten for one on average. */
  versions: Uint16Array
}

const SEED = 20_261_121
const VERSIONS_PER_NODE = 10
const NODES_PER_PUBLISHER = 50
const MAX_VERSIONS = 500
const FIRST = Date.UTC(2024, 0, 1)
const LAST = Date.UTC(2026, 10, 1)
/** User who publishes everything. */
export const MAKER = 'maker'

/** Plans how many versions each node has: few have many, and together they are ten times the nodes. */
export const planCatalogue = (nodes: number): CataloguePlan => {
  const random = makeRandom(SEED)
  const versions = Uint16Array.from({ length: nodes }, () =>
    Math.min(MAX_VERSIONS, Math.floor((1 - random.next()) ** (-1 / 0.86))),
  )
  // Both ends are sure to be there, whatever is drawn.
  versions[0] = MAX_VERSIONS
  versions[1] = VERSIONS_PER_NODE
  let surplus = versions.reduce((sum, count) => sum + count, 0) - nodes * VERSIONS_PER_NODE
  for (let at = 2; surplus !== 0; at = at + 1 < nodes ? at + 1 : 2) {
    const count = (versions[at] ?? 0) - Math.sign(surplus)
    if (count < 1 || count > MAX_VERSIONS) continue
    versions[at] = count
    surplus -= Math.sign(surplus)
  }
  return { nodes, publishers: Math.ceil(nodes / NODES_PER_PUBLISHER), versions }
}

export const publisherId = (index: number): string => `maker-${String(index).padStart(4, '0')}`

/** Makes all rows of the node of an index, by their table. Those of host nodes are of its latest version. */
export const makeRows = ({ publishers, nodes, versions }: CataloguePlan, index: number) => {
  const random = makeRandom(SEED + 7 * (index + 1))
  const words = drawWords(random, random.between(1, 3))
  const id = `${words.join('-')}-${index}`
  const owner = publisherId(random.between(0, publishers - 1))
  const createdAt = new Date(FIRST + ((LAST - FIRST) * 0.9 * (index + random.next())) / nodes)
  const made = makeVersions(random, { nodeId: id, count: versions[index] ?? 1, createdAt })
  const latest = latestOf(made)
  const node = {
    id,
    publisher_id: owner,
    name: words.map(capitalise).join(random.chance(0.5) ? ' ' : ''),
    author: random.chance(0.6) ? drawWords(random, 2).map(capitalise).join(' ') : undefined,
    description: sentence(random, random.between(12, 32)),
    repository: `https://github.com/${owner}/${id}${random.chance(0.3) ? '.git' : ''}`,
    icon: `https://cdn.example.com/${owner}/${id}.png`,
    license: '{"file": "LICENSE"}',
    tags: drawWords(random, random.between(0, 4)),
    supported_os: drawOs(random),
    supported_accelerators: drawAccelerators(random),
    github_stars: Math.floor((1 - random.next()) ** -0.8) - 1,
    latest_version_id: latest?.id,
    created_at: createdAt,
    updated_at: later(made.at(-1)?.created_at ?? createdAt, 5_000),
  }
  const banned = random.chance(0.01)
  const checked = banned
    ? { status: 'NodeStatusBanned', status_detail: 'spam' }
    : { status: 'NodeStatusActive', status_detail: undefined }
  const stats = {
    node_id: id,
    downloads: Math.min(5_000_000, Math.floor(10 * (1 - random.next()) ** -1.1) - 10),
    search_ranking: random.chance(0.9) ? 5 : random.between(1, 10),
    listed: !banned,
    created_at: createdAt,
  }
  const hostNodes = latest ? makeHostNodes(random, latest.id) : []
  return {
    node: [{ ...node, ...checked }],
    node_stats: [stats],
    version: made,
    host_node: hostNodes,
    current_host_node: hostNodes.map(({ host_node_name: name }) => ({ node_id: id, name })),
  }
}

type VersionRow = ReturnType<typeof makeVersions>[number]

/** Finds among versions in ascending order the one that the service would choose. */
const latestOf = (versions: readonly VersionRow[]): VersionRow | undefined => {
  const rank = ({ deprecated, version }: VersionRow): number =>
    2 * Number(deprecated) + Number(version.includes('-'))
  return versions
    .filter(({ status }) => status === 'NodeVersionStatusActive')
    .toReversed()
    .toSorted((a, b) => rank(a) - rank(b))[0]
}

const DEPENDENCIES = ['numpy', 'pillow>=10', 'torch']

const makeVersions = (
  random: Random,
  { nodeId, count, createdAt }: { nodeId: string; count: number; createdAt: Date },
) =>
  Array.from({ length: count }, (_, at) => {
    const release = `${Math.floor(at / 100)}.${Math.floor(at / 10) % 10}.${at % 10}`
    const version = release + (random.chance(0.03) ? `-rc.${random.between(1, 9)}` : '')
    const number = parseVersionNumber(version)
    if (!number) throw new Error(`no version: ${version}`)
    const drawn = { id: random.uuid(), ...drawStatus(random), deprecated: random.chance(0.02) }
    const rest = LAST - createdAt.getTime()
    const created = later(createdAt, (rest * (at + random.next())) / count)
    return {
      ...number,
      ...drawn,
      version,
      node_id: nodeId,
      dependencies: DEPENDENCIES.slice(0, number.patch % 4),
      host_node_extract_status: 'success',
      extract_source: 'derived',
      archive_state: 'accepted',
      upload_expires_at: later(created, 3_600_000),
      published_by: MAKER,
      created_at: created,
      last_moved_at: later(created, 5_000),
      rev: 5,
    }
  })

const later = (time: Date, ms: number): Date => new Date(time.getTime() + ms)

const FLAWS = ['eval of a variable', 'subprocess with a shell', 'download that is run', 'pickle']

const drawStatus = (random: Random): { status: VersionStatus; status_reason: string } => {
  const drawn = random.next()
  if (drawn >= 0.03)
    return { status: 'NodeVersionStatusActive', status_reason: VERSION_TRANSITIONS.pass.reason }
  const place = `nodes/${drawWord(random)}.py line ${random.between(1, 900)}`
  if (drawn < 0.01)
    return { status: 'NodeVersionStatusBanned', status_reason: `malware in ${place}` }
  const found = `${random.between(1, 5)} high findings, the worst: ${random.pick(FLAWS)}, ${place}`
  return { status: 'NodeVersionStatusFlagged', status_reason: found }
}

/** Named by words, some of them the same in several packs. */
const makeHostNodes = (random: Random, versionId: string) => {
  const count = Math.min(40, Math.floor((1 - random.next()) ** (-1 / 1.2)))
  const names = Array.from({ length: count }, () => camel(random, random.between(2, 3)))
  return [...new Set(names)].map((name) => ({
    version_id: versionId,
    host_node_name: name,
    category: drawWord(random),
    description: drawWords(random, 8).join(' '),
    function: 'run',
    input_types: '{"required": {"image": ["IMAGE"], "strength": ["FLOAT", {"default": 1.0}]}}',
    return_types: '["IMAGE"]',
    return_names: '["image"]',
    output_is_list: [false],
  }))
}

const OS = ['OS Independent', 'Microsoft :: Windows', 'POSIX :: Linux', 'MacOS', 'Plan 9']
const GPUS = ['NVIDIA CUDA', 'AMD ROCm', 'Apple Metal', 'Intel Arc']
const ACCELERATORS = [...GPUS.map((name) => `GPU :: ${name}`), 'NPU :: Huawei Ascend']

/** The first is everywhere, the last is rare. */
const drawOs = (random: Random): string[] => OS.filter((_, at) => random.chance(0.6 / 4 ** at))
const drawAccelerators = (random: Random): string[] =>
  ACCELERATORS.filter((_, at) => random.chance(0.5 / 3 ** at))
