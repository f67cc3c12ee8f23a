import { responseOf, KilnError } from '../index.ts'
import type { Verdict } from '../index.ts'
import { requireHeader, requireLink } from '../lib/argument.ts'
import { isFreeAgain } from '../lib/registry.ts'
import { orMissing } from '../lib/errors.ts'
import { packFolder } from './archive.ts'
import type { PackedFolder } from './archive.ts'
import { listFindingLines, listFindings } from './version-commands.ts'
import { take, text } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT, EXIT_READING, LocalError, UsageError, withPublisher } from './error.ts'
import { findRoot, checkPackFiles } from './check-pack.ts'
import { writeNodeList } from './node-list.ts'
import type { Check } from './check-pack.ts'
import { readProject } from './project.ts'
import type { Project } from './parse-project.ts'
import { readArchive } from './reader.ts'
import { checkBefore, checkRemotely, toReading, toRegistry } from './remote-check.ts'
import { counted } from './words.ts'
import type { Reading } from './reader.ts'

const PACK_OPTIONS = { publisher: { type: 'string' } } as const
const UNNAMED = 'no publisher is named: --publisher, or PublisherId in pyproject.toml'
const PUBLISHER_HELP = '--publisher  the publisher, where pyproject.toml names none'

type Pack = Project & { archive: PackedFolder; checks: Check[] }

/** Packs the folder of the argument, hands it to `use`, and removes the archive. */
const withPack = async <T>(context: Context, use: (pack: Pack) => Promise<T>): Promise<T> => {
  const [folder = '.', ...more] = context.positionals
  if (more.length > 0) throw new UsageError('expected one folder')
  const project = await readProject(folder)
  context.screen.show('packing')
  const [archive, maxBytes] = await Promise.all([
    packFolder(folder, project),
    context.values['offline'] === true ? Infinity : findMaxBytes(context),
  ])
  try {
    const publisherId = text(context.values, 'publisher') ?? project.publisherId
    const { files, bytes } = archive
    const root = findRoot(files.map(({ path }) => path))
    const pack = { files, root, project, archive: { size: bytes } }
    const checks = checkPackFiles(pack, { publisherId, maxBytes })
    return await use({ ...project, publisherId, archive, checks })
  } finally {
    await archive.remove()
  }
}

/** Most that an archive may have; a service that is away says so later. */
const findMaxBytes = ({ kiln, signal }: Context): Promise<number> =>
  responseOf(kiln.routes.GET('/service', { signal })).then(
    ({ limits }) => limits.archive_bytes,
    () => Infinity,
  )

const LABELS = { ok: 'archive', warn: 'warning', bad: 'wrong  ' }

const describeArchive = ({ archive, checks }: Pack): string[] => [
  ...checks.map(({ tone, text }) => `  ${LABELS[tone]}   ${text}`),
  ...archive.included.map(
    ({ path, files }) => `  included  ${path} (${counted(files, 'file')}, by includes)`,
  ),
  ...archive.leftOut.map(({ path, why }) => `  left out  ${path} (${why})`),
]

const check: Command = {
  usage: '[folder] [--publisher <id>] [--remote|--offline] [--write-node-list [--host <url>]]',
  summary: 'says what a publication of the folder would hold, and what the service would find',
  help: [
    PUBLISHER_HELP,
    '--remote           has the service itself read and scan the archive, which it does not keep',
    '--offline          does not ask the service: neither whether the version is free, nor how large an archive may be',
    '--write-node-list  writes node_list.json where the host nodes cannot be read',
    '--host             a running host that has the pack, which knows their names',
  ],
  options: {
    ...PACK_OPTIONS,
    remote: { type: 'boolean' },
    offline: { type: 'boolean' },
    'write-node-list': { type: 'boolean' },
    host: { type: 'string' },
  },
  run: async (context) => {
    const host = text(context.values, 'host')
    const isWriting = context.values['write-node-list'] === true
    if (context.values['remote'] === true && context.values['offline'] === true)
      throw new UsageError('--remote asks the service, and --offline does not')
    if (host !== undefined && !isWriting) throw new UsageError('--host goes with --write-node-list')
    if (host !== undefined) requireLink('--host', host)
    const {
      positionals: [folder = '.'],
      signal,
    } = context
    const list = async ({ archive, nodeId }: Pack): Promise<string> => {
      const paths = archive.files.map(({ path }) => path)
      const reading = await readArchive(archive.path)
      return await writeNodeList({ folder, nodeId, paths, reading, host, signal })
    }
    const listed = isWriting ? await withPack(context, list) : undefined
    // It holds the list by now.
    return await withPack(context, (pack) => checkPack(context, pack, listed))
  },
}

const checkPack = async (context: Context, pack: Pack, node_list: string | undefined) => {
  const { screen } = context
  const isRemote = context.values['remote'] === true
  const checked = isRemote ? await checkRemotely(context, pack) : undefined
  const registry = checked ? toRegistry(checked, pack) : await askRegistry(context, pack)
  screen.show('reading as the service does')
  const { nodeId, publisherId, version, archive, checks } = pack
  const reading = checked ? toReading(checked) : await readArchive(archive.path)
  const issues = [
    ...checks.flatMap(({ tone, text }) => (tone === 'bad' ? text : [])),
    ...registry.issues,
    ...(reading ? listIssues(reading) : []),
  ]
  const [exitCode, outcome] = decideOutcome(issues, reading, registry.isAsked)
  const lines = [
    `${nodeId} ${version.version}, publisher ${publisherId ?? 'not named'}`,
    ...describeArchive(pack),
    `  registry  ${registry.line}`,
    ...(reading ? describeReading(reading) : [UNREAD]),
    ...(node_list === undefined ? [] : [`  names     ${node_list}`]),
    outcome,
  ]
  const { bytes, files, included, leftOut: left_out } = archive
  const packed = { bytes, files, included, left_out }
  const value = { node_id: nodeId, ...version, ...packed, reading, node_list, issues }
  screen.print(lines, value)
  return exitCode
}

/** Exit code, and what it all comes to: a version can be published without its host nodes, which is no success. */
const decideOutcome = (
  issues: readonly string[],
  reading: Reading | undefined,
  isAsked: boolean,
): [number, string] => {
  if (issues.length > 0) return [EXIT.failed, `in the way: ${issues.join('; ')}`]
  const but = 'nothing stands in the way of a version, but'
  if (reading?.status === 'failed')
    return [EXIT_READING.failed, `${but} its host nodes cannot be read: ${reading.reason}`]
  if (reading?.partial)
    return [EXIT_READING.partial, `${but} host nodes may be missing: ${reading.reasons.join(', ')}`]
  return [EXIT.done, `${reading && isAsked ? '' : 'so far '}nothing stands in the way`]
}

const UNREAD =
  '  reading   not done: the service looks at packs once they are published, and the package kiln-inspector, which reads them here, is not installed'

/** Checks that node and version are free, as far as anybody may see. A service that is away is no error of the pack. */
const askRegistry = async (
  { kiln, screen, signal, values }: Context,
  { nodeId, publisherId, version }: Pack,
): Promise<{ line: string; issues: string[]; isAsked: boolean }> => {
  const issues = publisherId === undefined ? [UNNAMED] : []
  if (values['offline'] === true) return { line: 'not asked (--offline)', issues, isAsked: false }
  screen.show('asking the registry')
  try {
    const node = await orMissing(kiln.registry.readNode(nodeId, { signal }))
    if (!node) return { line: `${nodeId} is a new pack`, issues, isAsked: true }
    const owner = node.publisher.id
    if (publisherId !== undefined && owner !== publisherId)
      issues.push(`the pack ${nodeId} belongs to ${owner}`)
    const number = version.version
    const taken = await orMissing(kiln.registry.readVersion(nodeId, number, { signal }))
    if (taken && !isFreeAgain(taken))
      issues.push(`the version ${taken.version} exists: raise it in pyproject.toml`)
    const latest = node.latest_version?.version ?? 'none'
    return { line: `${nodeId} of ${owner}, latest version ${latest}`, issues, isAsked: true }
  } catch (error) {
    if (!(error instanceof KilnError)) throw error
    if (error.code === 'version_invalid') issues.push(error.message)
    return { line: `not asked to the end: ${error.message}`, issues, isAsked: false }
  }
}

const count = ({ findings }: Reading, wanted: string): number =>
  findings.filter(({ severity }) => severity === wanted).length

const listIssues = (reading: Reading): string[] => [
  ...(reading.verdict === 'sound' ? [] : [`the archive is rejected: ${reading.code}`]),
  ...(count(reading, 'high') === 0 ? [] : ['the findings marked HIGH would flag the version']),
]

const describeReading = (reading: Reading): string[] => {
  const { verdict, code, findings, advice, nodes, scanned } = reading
  const conditional = Object.entries(nodes).filter(([, { dynamic }]) => dynamic?.includes(ITSELF))
  const unsure = firstOf(conditional.map(([name]) => name))
  const [high, medium, info] = ['high', 'medium', 'info'].map((name) => count(reading, name))
  return [
    `  archive   ${verdict === 'sound' ? 'sound' : `REJECTED, ${code}`}`,
    `  nodes     ${describeNodes(reading)}`,
    ...(unsure ? [`            only under a condition: ${unsure}`] : []),
    ...advice.map((line) => `  warning   ${line}`),
    `  findings  ${high} high, ${medium} medium, ${info} info${scanned === false ? '; NOT SCANNED TO THE END' : ''}`,
    ...listFindings(findings.filter(({ severity }) => severity !== 'info')),
  ]
}

const ITSELF = 'host_node_name'

const firstOf = (names: readonly string[]): string =>
  names.slice(0, 8).join(', ') + (names.length > 8 ? ` and ${names.length - 8} more` : '')

/** The number of host nodes and the first names; where names may be missing, why. */
const describeNodes = ({ status, how, partial, reason, reasons, nodes }: Reading): string => {
  if (status === 'failed') return ['FAILED', ...new Set([reason, ...reasons])].join(', ')
  const names = Object.keys(nodes)
  const some = names.length === 0 ? '' : `: ${firstOf(names)}`
  const found = `${names.length}${some}${how === 'none' ? '' : ` (${how})`}`
  return partial ? `${found}; some may be missing: ${reasons.join(', ')}` : found
}

const publish: Command = {
  usage: '[folder] [--publisher <id>] [--token <token>] [--changelog <text>] [--no-check]',
  summary: 'zips the folder, has it checked, publishes it, and waits for the verdict',
  help: [
    PUBLISHER_HELP,
    '--token      the personal access token; better is KILN_PUBLISH_TOKEN, which no list of processes shows',
    '--changelog  what has changed',
    '--no-check   publishes what would be flagged or rejected, too',
  ],
  options: {
    ...PACK_OPTIONS,
    token: { type: 'string' },
    changelog: { type: 'string' },
    'no-check': { type: 'boolean' },
  },
  run: async (context) => {
    const token = text(context.values, 'token') ?? process.env['KILN_PUBLISH_TOKEN']
    if (!token)
      throw new UsageError(
        'set KILN_PUBLISH_TOKEN: export KILN_PUBLISH_TOKEN=$(kiln token <publisher>)',
      )
    const secret = requireHeader('the personal access token', token)
    return await withPack(context, (pack) => publishPack(context, pack, secret))
  },
}

const publishPack = async (context: Context, pack: Pack, token: string): Promise<number> => {
  const { kiln, screen, signal, values } = context
  const { nodeId, publisherId, node, version, archive } = pack
  if (publisherId === undefined) throw new LocalError(UNNAMED)
  // Otherwise the service reads it before anything is published.
  const reading = values['no-check'] === true ? await readArchive(archive.path) : undefined
  const warnings = (reading?.advice ?? []).map((line) => `  warning   ${line}`)
  for (const line of [`${nodeId} ${version.version}`, ...describeArchive(pack), ...warnings])
    screen.record(line)
  if (values['no-check'] !== true && !(await checkBefore(context, pack, token))) return EXIT.failed
  const changelog = text(values, 'changelog')
  const source = text(values, 'publisher') ? '--publisher' : 'PublisherId in pyproject.toml'
  const named = `${source} names the publisher ${publisherId}: the token must be one of it`
  const publication = kiln.registry.publish(
    {
      publisherId,
      nodeId,
      token,
      node,
      version: { ...version, ...(changelog === undefined ? {} : { changelog }) },
      archive: () =>
        archive.open((read) => {
          screen.show('uploading', (100 * read) / archive.bytes)
          if (read === archive.bytes) context.leave(`kiln watch ${nodeId}@${version.version}`)
        }),
    },
    { signal, onStep: (step) => screen.show(step) },
  )
  const verdict = await publication.catch((error: unknown) => {
    throw withPublisher(error, named)
  })
  return await reportVerdict(context, verdict)
}

const reportVerdict = async (
  { kiln, screen, signal }: Context,
  { state, reason, warnings, version }: Verdict,
): Promise<number> => {
  const { node_id, version: number, downloadUrl } = version
  const line = `${node_id}@${number} is ${state}${reason === '' ? '' : `: ${reason}`}`
  const lines = [
    line,
    ...(downloadUrl ? [downloadUrl] : []),
    ...warnings.map((warning) => `warning: ${warning}`),
    ...(state === 'flagged' ? await listFindingLines({ kiln, signal }, node_id, number) : []),
  ]
  screen.print(lines, { ...version, state, warnings })
  return state === 'active' ? EXIT.done : EXIT.failed
}

export const watchVersion = async (context: Context, nodeId: string, version: string) => {
  const { kiln, screen, signal } = context
  context.leave(`kiln watch ${nodeId}@${version}`)
  // A missing version, or a service that is away, is reported at once.
  await kiln.registry.readVersion(nodeId, version, { signal })
  const options = { signal, onStep: (step: string) => screen.show(step) }
  return await reportVerdict(context, await kiln.registry.waitForVerdict(nodeId, version, options))
}

const token: Command = {
  usage: '<publisher> [--create]',
  summary: 'prints a new personal access token of a publisher, this once: for KILN_PUBLISH_TOKEN',
  help: ['--create  makes the publisher first, where it is not there'],
  options: { create: { type: 'boolean' } },
  run: async (context) => {
    const { kiln, screen, signal, values } = context
    const [publisherId = ''] = take(context, 'publisher')
    const { POST } = kiln.routes
    if (values['create'] === true)
      await POST('/publishers', { body: { id: publisherId }, signal }).catch((error: unknown) => {
        // A member gets a token of it; whoever is none is rejected that.
        if (!(error instanceof KilnError && error.code === 'publisher_exists')) throw error
      })
    const { data } = await POST('/publishers/{publisherId}/tokens', {
      params: { path: { publisherId } },
      body: { name: 'kiln' },
      signal,
    })
    const made = data?.token ?? ''
    screen.print([made], { publisher_id: publisherId, token: made })
    return EXIT.done
  },
}

export const PACK_COMMANDS: Record<string, Command> = { check, publish, token }
