import { writeFile } from 'node:fs/promises'

import type { paths } from '../generated/openapi.ts'
import { responseOf } from '../lib/http.ts'
import { take, text } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT, EXIT_UNKNOWN, UsageError, parseNamed, readNamed, rejectAsUsage } from './error.ts'
import { readLockFile } from './lock-file.ts'
import type { LockFile } from './lock-file.ts'
import { counted } from './words.ts'

type Json<Path extends '/workflows/resolve' | '/workflows/check'> =
  paths[Path]['post']['responses'][200]['content']['application/json']
type Resolution = Json<'/workflows/resolve'>
type Check = Json<'/workflows/check'>

const readAsked = async (context: Context) => {
  const [, path = ''] = take(context, 'verb', 'file')
  const host_version = text(context.values, 'host-version')
  const workflow = parseNamed(await readNamed(path), path)
  return { workflow, ...(host_version !== undefined && { host_version }) }
}

/** Throws where the file of the arguments has nothing to say something about. */
const requireNodes = (
  { positionals: [, path] }: Context,
  { counts, warnings }: Pick<Resolution | Check, 'counts' | 'warnings'>,
): void => {
  if (counts.nodes > 0) return
  throw new UsageError([`there is no host node in ${path}`, ...warnings].join(': '))
}

const askResolution = async (context: Context): Promise<Resolution> => {
  const from = await readLockFile(text(context.values, 'from'))
  const prefer = context.values['as-saved'] === true ? ('saved' as const) : undefined
  const body = {
    ...(await readAsked(context)),
    ...(from && { installed: from.versions }),
    ...(prefer && { prefer }),
  }
  context.screen.show('asking the registry')
  const { kiln, signal } = context
  const found = await responseOf(kiln.routes.POST('/workflows/resolve', { body, signal }))
  requireNodes(context, found)
  return { ...found, warnings: [...found.warnings, ...(from?.issues ?? [])] }
}

const resolve = async (context: Context): Promise<number> => {
  const found = await askResolution(context)
  context.screen.print(describeResolution(found), found)
  return found.counts.unknown > 0 ? EXIT.failed : EXIT.done
}

const describeModel = ({ file, folder, url, digest, instances }: Resolution['models'][number]) => {
  const place = folder === undefined ? file : `models/${folder}/${file}`
  const having = instances && `on ${instances.join(', ') || 'no instance'}`
  return ['  model', place, url, digest, having].filter((part) => part !== undefined).join('  ')
}

type Unknown = { host_node: string; count?: number; message: string }

/** A line for each sentence on host nodes that are unknown, with those that it is about. */
const listUnknown = (unknown: readonly Unknown[]): string[] => {
  const names = new Map<string, string[]>()
  for (const { host_node: name, count, message } of unknown)
    names.set(message, [...(names.get(message) ?? []), count ? `${name} (${count})` : name])
  return [...names].map(([message, same]) => `${same.join(', ')}  ${message}`)
}

const describeResolution = ({ counts, packs, host_nodes, ...found }: Resolution) => [
  `${counted(counts.nodes, 'host node')}: ${counts.built_in} of the host, ${counts.found} in packs, ${counts.unknown} unknown`,
  ...packs.map(
    ({ node_id, version = 'none fits', host_nodes: names, is_installed, message }) =>
      `  ${node_id}@${version}${is_installed ? ' (installed)' : ''}  ${names.join(', ')}${message === undefined ? '' : `\n    ${message}`}`,
  ),
  ...listUnknown(host_nodes.filter(({ origin }) => origin === 'unknown')).map(
    (line) => `  unknown  ${line}`,
  ),
  ...host_nodes
    .filter(
      ({ origin, reason, other_node_ids: others = [] }) =>
        origin === 'found' && (others.length > 0 || reason === 'recorded'),
    )
    .map(
      ({ host_node, message, other_node_ids: others = [] }) =>
        `  chosen   ${host_node}  ${message}${others.length > 0 ? ` Also in ${others.join(', ')}.` : ''}`,
    ),
  ...host_nodes
    .filter((one) => one.replaced_by)
    .map(({ host_node, count, message }) => `  replaced  ${host_node} (${count})  ${message}`),
  ...found.models.map(describeModel),
  ...found.conflicts.map(({ message }) => `  conflict  ${message}`),
  ...found.warnings.map((warning) => `  left out  ${warning}`),
]

const toSnapshot = (lock: Resolution['lock']) => ({
  comfyui: '',
  git_custom_nodes: {},
  cnr_custom_nodes: Object.fromEntries(lock.map(({ node, version }) => [node, version])),
  file_custom_nodes: [],
  pips: {},
})

const lock = async (context: Context): Promise<number> => {
  const found = await askResolution(context)
  const { lock: packs, counts, host_nodes, models, warnings } = found
  const unfit = found.packs.filter(({ version }) => version === undefined)
  const unknown = host_nodes.flatMap((one) => (one.origin === 'unknown' ? one.host_node : []))
  const missing = unknown.length > 0 && { unknown_host_nodes: unknown }
  const beside = { ...(models.length > 0 && { models }), ...missing }
  const value = context.values['snapshot'] === true ? toSnapshot(packs) : { packs, ...beside }
  const content = `${JSON.stringify(value, null, 2)}\n`
  const path = text(context.values, 'output')
  if (path !== undefined) await writeFile(path, content)
  const written =
    path === undefined ? content.trimEnd() : `${path} names ${counted(packs.length, 'pack')}`
  context.screen.print([written], value)
  const leftOut = unfit.map(({ node_id, message = '' }) => `left out  ${node_id}: ${message}`)
  const noted = found.packs.flatMap(({ node_id, version, message }) =>
    version !== undefined && message !== undefined ? `${node_id}@${version}: ${message}` : [],
  )
  for (const line of [
    ...describeUnknown(unknown, counts.unknown),
    ...leftOut,
    ...noted,
    ...warnings,
  ])
    context.screen.record(line)
  return counts.unknown > 0 || isLacking(found) ? EXIT.failed : EXIT.done
}

/** True where a locked version lacks a host node that another version of its pack has. */
const isLacking = ({ packs, host_nodes }: Resolution): boolean => {
  const missing = new Set(packs.flatMap(({ missing_host_nodes: names }) => names))
  return host_nodes.some(({ host_node, reason }) => missing.has(host_node) && reason !== 'recorded')
}

/** The line that says which host nodes no pack has; none without any. */
const describeUnknown = (names: readonly string[], count: number): string[] => {
  if (names.length === 0) return []
  const places = count === names.length ? '' : `, at ${counted(count, 'place')}`
  const are = `${names.length === 1 ? 'is' : 'are'} unknown${places}`
  return [`${counted(names.length, 'host node')} ${are}: ${names.join(', ')}`]
}

const check = async (context: Context): Promise<number> => {
  const from = await readLockFile(text(context.values, 'from'))
  const to = await readLockFile(text(context.values, 'to'))
  const versions = { ...(from && { from: from.versions }), ...(to && { to: to.versions }) }
  const body = { ...(await readAsked(context)), ...versions }
  context.screen.show('comparing')
  const { kiln, signal, values, screen } = context
  const checked = await responseOf(kiln.routes.POST('/workflows/check', { body, signal })).catch(
    rejectAsUsage,
  )
  requireNodes(context, checked)
  const issues = [...(from?.issues ?? []), ...(to?.issues ?? [])]
  const found = { ...checked, warnings: [...checked.warnings, ...issues] }
  screen.print(describeCheck(found, { from, to }), found)
  const { counts, verdict } = found
  const isWhole = verdict === 'safe' && found.warnings.length === 0
  if (counts.breaks > 0 || (values['strict'] === true && !isWhole)) return EXIT.failed
  return verdict === 'unknown' || counts.unknown > 0 ? EXIT_UNKNOWN : EXIT.done
}

/** The lock files of both sides, as far as they were given. */
type Locks = Record<'from' | 'to', LockFile | undefined>

/** The place that decided on a version with which a pack cannot be compared. */
const sourceOf = ({ node_id: id, reason }: Check['packs'][number], locks: Locks): string => {
  const side = /^(from|to)_/.exec(reason ?? '')?.[1] as keyof Locks | undefined
  if (side === undefined) return ''
  return ` ${locks[side]?.describe(id) ?? `--${side} takes a lock file that names it.`}`
}

const sumUp = ({ counts, packs }: Check, { from }: Locks): string => {
  const compared = packs.filter(({ verdict }) => verdict !== 'none').length
  const some = compared < packs.length ? `, as far as ${compared} of ${packs.length} packs say` : ''
  const left = counts.unknown > 0 ? `; ${counted(counts.unknown, 'host node')} unknown` : ''
  if (compared === 0 && packs.length > 0)
    return from
      ? 'no pack could be compared'
      : 'no pack could be compared: give the versions that work with --from, by a file of `kiln workflow lock`'
  return counts.breaks + counts.may_break === 0
    ? `nothing of the workflow changes${some}${left}`
    : `${counted(counts.breaks, 'change breaks', 'changes break')} the workflow, ${counts.may_break} may break it${some}${left}`
}

const VERDICTS = { breaks: 'breaks', may_break: 'may break', safe: 'safe', none: 'not compared' }

const describePack = (pack: Check['packs'][number], locks: Locks): string => {
  const { node_id, from = '?', to = '?', verdict, newest_safe: safe, message } = pack
  const line = `  ${node_id} ${from} → ${to}  ${VERDICTS[verdict]}${safe === undefined ? '' : `; ${safe} breaks nothing`}`
  return message === undefined ? line : `${line}\n    ${message}${sourceOf(pack, locks)}`
}

const describeCheck = (found: Check, locks: Locks): string[] => [
  sumUp(found, locks),
  ...describeUnknown(found.unknown_host_nodes, found.counts.unknown).map(
    (line) => `  not compared  ${line}`,
  ),
  ...listUnknown(found.unknown).map((line) => `    ${line}`),
  ...(found.replaced ?? []).map(({ host_node, message }) => `  replaced  ${host_node}: ${message}`),
  ...found.packs.map((pack) => describePack(pack, locks)),
  ...found.changes.map(
    ({ level, node: { id, title, within }, host_node, message }) =>
      `  ${level.replace('_', ' ')}  ${[within, `node ${id}`, title ?? host_node].filter(Boolean).join(', ')}: ${message}`,
  ),
  ...found.warnings.map((warning) => `  left out  ${warning}`),
]

const VERBS = { resolve, lock, check }

export const WORKFLOW_COMMANDS: Record<string, Command> = {
  workflow: {
    usage:
      'resolve|lock|check <file> [--from <lock>] [--to <lock>] [--as-saved] [--host-version <version>] [-o <file>] [--snapshot] [--strict]',
    summary:
      'says which packs a saved workflow needs, locks them, or says what their updates break',
    help: [
      '--from          a lock file: the versions that are installed',
      '--to            of check: the versions to compare with, else the newest that fit',
      '--as-saved      of resolve and lock: the versions that the workflow was saved with',
      '--host-version  the version of the host that the packs must fit',
      '-o, --output    of lock: the file to write, else the terminal',
      '--snapshot      of lock: writes the form that a manager of the host restores',
      '--strict        of check: what may break counts as broken, and what is unknown or not compared',
    ],
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      'as-saved': { type: 'boolean' },
      'host-version': { type: 'string' },
      output: { type: 'string', short: 'o' },
      snapshot: { type: 'boolean' },
      strict: { type: 'boolean' },
    },
    run: async (context) => {
      const [verb = 'none'] = context.positionals
      if (!Object.hasOwn(VERBS, verb))
        throw new UsageError(
          `behind workflow must be ${Object.keys(VERBS).join(', ')}, got ${verb}${/[./]/.test(verb) ? `: kiln workflow resolve ${verb}` : ''}`,
        )
      return await VERBS[verb as keyof typeof VERBS](context)
    },
  },
}
