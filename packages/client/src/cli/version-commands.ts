import type { Kiln } from '../index.ts'
import { confirmDeletion } from './confirm.ts'
import { take, text } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT, UsageError } from './error.ts'

const VERSION = '<pack>@<version>'

/** Node and version of the argument after the verb. */
const readVersionArgument = (context: Context): { nodeId: string; version: string } => {
  const [, named = ''] = take(context, 'verb', 'node@version')
  const [, nodeId, version] = /^(.+)@(.+)$/.exec(named) ?? []
  if (!nodeId || !version) throw new UsageError(`expected ${VERSION}, got ${named}`)
  return { nodeId, version }
}

/** The publisher of a node, which is read from it unless it is named. */
const findPublisher = async (context: Context, nodeId: string): Promise<string> =>
  text(context.values, 'publisher') ??
  (await context.kiln.registry.readNode(nodeId, context)).publisher.id

const listVersions = async (context: Context): Promise<number> => {
  const [, nodeId = ''] = take(context, 'verb', 'node')
  const versions = await context.kiln.registry.listVersions(nodeId, context)
  const lines = versions.map(
    ({ version, status, status_reason: reason, deprecated, host_node_extract_reason: code }) =>
      [
        version,
        status.replace('NodeVersionStatus', '').toLowerCase(),
        ...(deprecated ? ['deprecated'] : []),
        ...(code ? [`host nodes not read (${code})`] : []),
        ...(status === 'NodeVersionStatusActive' ? [] : [reason]),
      ].join('  '),
  )
  context.screen.print(lines.length > 0 ? lines : ['no version'], versions)
  return EXIT.done
}

const deprecateVersion = async (context: Context): Promise<number> => {
  const { nodeId, version } = readVersionArgument(context)
  const changelog = text(context.values, 'changelog')
  const deprecated = context.values['undo'] !== true
  const publisherId = await findPublisher(context, nodeId)
  const body = { deprecated, ...(changelog === undefined ? {} : { changelog }) }
  const { registry } = context.kiln
  const changed = await registry.editVersion(publisherId, nodeId, version, body, context)
  const state = deprecated ? 'deprecated' : 'no longer deprecated'
  context.screen.print([`${nodeId}@${changed.version} is ${state}`], changed)
  return EXIT.done
}

const deleteVersion = async (context: Context): Promise<number> => {
  const { nodeId, version } = readVersionArgument(context)
  await confirmDeletion(context, () => ({ what: `${nodeId}@${version}`, word: version }))
  const publisherId = await findPublisher(context, nodeId)
  await context.kiln.registry.deleteVersion(publisherId, nodeId, version, context)
  context.screen.print([`${nodeId}@${version} is deleted`], { node_id: nodeId, version })
  return EXIT.done
}

const showFindings = async (context: Context): Promise<number> => {
  const { nodeId, version } = readVersionArgument(context)
  const found = await context.kiln.registry.readFindings(nodeId, version, context)
  const { high, medium, info } = found.counts
  const lines = [
    `${high} high, ${medium} medium, ${info} info`,
    ...listFindings(found.findings ?? []),
    ...(found.findings ? [] : ['members of the publisher see each with its file and line']),
  ]
  context.screen.print(lines, found)
  return EXIT.done
}

type Findings = Awaited<ReturnType<Kiln['registry']['readFindings']>>

type Finding = Pick<Listed, 'severity' | 'issue_type' | 'message'> &
  Partial<Pick<Listed, 'file_path' | 'line_number'>>
type Listed = NonNullable<Findings['findings']>[number]

/** A line for each finding that flags a version; of the others one for all that say the same, with their first places. */
export const listFindings = (findings: readonly Finding[]): string[] => {
  const groups = new Map<string, [Finding, ...Finding[]]>()
  for (const one of findings) {
    const { severity, issue_type: rule, message } = one
    const key = JSON.stringify(severity === 'high' ? groups.size : [severity, rule, message])
    const same = groups.get(key)
    if (same) same.push(one)
    else groups.set(key, [one])
  }
  return [...groups.values()].map(describeFindings)
}

/** Places of equal findings that their line names. */
const PLACES_MAX = 3

const describeFindings = (same: [Finding, ...Finding[]]): string => {
  const [{ severity, issue_type: rule, message }] = same
  const places = same
    .slice(0, PLACES_MAX)
    .map(({ file_path: path = '', line_number: line }) => (line ? `${path}:${line}` : path))
  const more = same.length > PLACES_MAX ? ` and ${same.length - PLACES_MAX} more` : ''
  return `  ${severity.toUpperCase()} ${rule}  ${places.join(', ')}${more}  ${message}`
}

/** The findings that flag a version, one a line; none for whoever may not see them. */
export const listFindingLines = async (
  { kiln, signal }: Pick<Context, 'kiln' | 'signal'>,
  nodeId: string,
  version: string,
): Promise<string[]> => {
  // The verdict stands, whatever becomes of this read.
  const { findings = [] } = await kiln.registry
    .readFindings(nodeId, version, { signal })
    .catch((): Partial<Findings> => ({}))
  return listFindings(findings.filter(({ severity }) => severity === 'high'))
}

const VERBS: Record<string, (context: Context) => Promise<number>> = {
  list: listVersions,
  deprecate: deprecateVersion,
  delete: deleteVersion,
  findings: showFindings,
}

const version: Command = {
  usage: `list <pack>|deprecate ${VERSION}|delete ${VERSION}|findings ${VERSION}`,
  summary: 'lists the versions of a pack, deprecates or deletes one, or shows its findings',
  help: [
    '--publisher  the publisher, where it is not the one that the pack says',
    '--changelog  with deprecate: a new text, such as what to use instead',
    '--undo       with deprecate: takes it back',
    '--yes        with delete: deletes without a question, which is asked on a terminal alone',
  ],
  options: {
    publisher: { type: 'string' },
    changelog: { type: 'string' },
    undo: { type: 'boolean' },
    yes: { type: 'boolean' },
  },
  run: async (context) => {
    const [verb = ''] = context.positionals
    const run = VERBS[verb]
    if (!run) throw new UsageError(`expected ${Object.keys(VERBS).join(', ')}, got ${verb}`)
    return await run(context)
  },
}

/** Members of a node that are one text, by the name of their option. */
const TEXTS = ['name', 'description', 'author', 'repository', 'license', 'icon'] as const

const node: Command = {
  usage: `edit <pack> ${TEXTS.map((name) => `[--${name} <text>]`).join(' ')} [--tag <tag>]…`,
  summary: 'changes what the registry says of a pack; what is not named stays',
  help: ['an empty text clears; --tag replaces all tags, and may be repeated'],
  options: {
    publisher: { type: 'string' },
    tag: { type: 'string', multiple: true },
    ...Object.fromEntries(TEXTS.map((name) => [name, { type: 'string' as const }])),
  },
  run: async (context) => {
    const [verb, nodeId = ''] = take(context, 'verb', 'node')
    if (verb !== 'edit') throw new UsageError(`expected edit, got ${verb}`)
    const texts = TEXTS.flatMap((name) => {
      const value = text(context.values, name)
      return value === undefined ? [] : [[name, value] as const]
    })
    const { tag } = context.values
    const tags = Array.isArray(tag) ? { tags: tag.map(String).filter((one) => one !== '') } : {}
    const body = { ...Object.fromEntries(texts), ...tags }
    if (Object.keys(body).length === 0) throw new UsageError('name at least one thing to change')
    const publisherId = await findPublisher(context, nodeId)
    const edited = await context.kiln.registry.editNode(publisherId, nodeId, body, context)
    context.screen.print([`${edited.id} is changed: ${Object.keys(body).join(', ')}`], edited)
    return EXIT.done
  },
}

export const VERSION_COMMANDS: Record<string, Command> = { version, node }
