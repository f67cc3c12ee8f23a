import { writeFile } from 'node:fs/promises'

import type { paths } from '../generated/openapi.ts'
import { responseOf } from '../lib/http.ts'
import { take, text } from './context.ts'
import type { Command, Context } from './context.ts'
import { EXIT, UsageError, readNamed } from './error.ts'

type Json<Path extends '/workflows/resolve' | '/workflows/check'> =
  paths[Path]['post']['responses'][200]['content']['application/json']
type Resolution = Json<'/workflows/resolve'>
type Check = Json<'/workflows/check'>

/** The JSON of a file that an argument names. */
const readJson = async (path: string): Promise<unknown> => {
  const content = await readNamed(path)
  try {
    return JSON.parse(content.toString('utf8'))
  } catch {
    throw new UsageError(`${path} is no JSON: save the workflow from the host, not its picture`)
  }
}

interface Lock {
  packs: Resolution['lock']
}

/** The form in which a manager of the host saves and restores a set of packs. */
type Snapshot = ReturnType<typeof toSnapshot>

/** Versions by pack, of a lock file or a snapshot. */
const readLock = async (path: string | undefined): Promise<Record<string, string> | undefined> => {
  if (path === undefined) return undefined
  const { packs, cnr_custom_nodes: restored } = (await readJson(path)) as Partial<Lock & Snapshot>
  if (restored) return restored
  if (!Array.isArray(packs)) throw new UsageError(`${path} is no lock file: it has no list "packs"`)
  return Object.fromEntries(packs.map(({ node, version }) => [node, version]))
}

const readAsked = async (context: Context) => {
  const [, path = ''] = take(context, 'verb', 'file')
  const host_version = text(context.values, 'host-version')
  const workflow = await readJson(path)
  return { workflow, ...(host_version !== undefined && { host_version }) }
}

const askResolution = async (context: Context): Promise<Resolution> => {
  const installed = await readLock(text(context.values, 'from'))
  const body = { ...(await readAsked(context)), ...(installed && { installed }) }
  context.screen.show('asking the registry')
  const { kiln, signal } = context
  return await responseOf(kiln.routes.POST('/workflows/resolve', { body, signal }))
}

const resolve = async (context: Context): Promise<number> => {
  const found = await askResolution(context)
  context.screen.print(describeResolution(found), found)
  return found.counts.unknown > 0 ? EXIT.failed : EXIT.done
}

const describeResolution = ({ counts, packs, host_nodes, conflicts, warnings }: Resolution) => [
  `${counts.nodes} host nodes: ${counts.built_in} of the host, ${counts.found} in packs, ${counts.unknown} unknown`,
  ...packs.map(
    ({ node_id, version = 'none fits', host_nodes: names, is_installed, message }) =>
      `  ${node_id}@${version}${is_installed ? ' (installed)' : ''}  ${names.join(', ')}${message === undefined ? '' : `\n    ${message}`}`,
  ),
  ...host_nodes
    .filter(({ origin }) => origin === 'unknown')
    .map(({ host_node, count, message }) => `  unknown  ${host_node} (${count})  ${message}`),
  ...conflicts.map(({ message }) => `  conflict  ${message}`),
  ...warnings.map((warning) => `  left out  ${warning}`),
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
  const { lock: packs, counts } = found
  const value = context.values['snapshot'] === true ? toSnapshot(packs) : { packs }
  const content = `${JSON.stringify(value, null, 2)}\n`
  const path = text(context.values, 'output')
  if (path !== undefined) await writeFile(path, content)
  const written = path === undefined ? content.trimEnd() : `${path} names ${packs.length} packs`
  context.screen.print([written], value)
  return counts.unknown > 0 ? EXIT.failed : EXIT.done
}

const check = async (context: Context): Promise<number> => {
  const from = await readLock(text(context.values, 'from'))
  const to = await readLock(text(context.values, 'to'))
  const body = { ...(await readAsked(context)), ...(from && { from }), ...(to && { to }) }
  context.screen.show('comparing')
  const { kiln, signal, values, screen } = context
  const found = await responseOf(kiln.routes.POST('/workflows/check', { body, signal }))
  screen.print(describeCheck(found), found)
  const isBad = found.counts.breaks > 0 || (values['strict'] === true && found.verdict !== 'safe')
  return isBad ? EXIT.failed : EXIT.done
}

const sumUp = ({ counts, packs }: Check): string => {
  const compared = packs.filter(({ verdict }) => verdict !== 'none').length
  const some = compared < packs.length ? `, as far as ${compared} of ${packs.length} packs say` : ''
  if (compared === 0 && packs.length > 0)
    return 'no pack could be compared: give the versions that work with --from, by a file of `kiln workflow lock`'
  return counts.breaks + counts.may_break === 0
    ? `nothing of the workflow changes${some}`
    : `${counts.breaks} changes break the workflow, ${counts.may_break} may break it${some}`
}

const VERDICTS = { breaks: 'breaks', may_break: 'may break', safe: 'safe', none: 'not compared' }

const describeCheck = (found: Check): string[] => [
  sumUp(found),
  ...found.packs.map(
    ({ node_id, from = '?', to = '?', verdict, newest_safe: safe, message }) =>
      `  ${node_id} ${from} → ${to}  ${VERDICTS[verdict]}${safe === undefined ? '' : `; ${safe} breaks nothing`}${message === undefined ? '' : `\n    ${message}`}`,
  ),
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
      'resolve|lock|check <file> [--from <lock>] [--to <lock>] [--host-version <version>] [-o <file>] [--snapshot] [--strict]',
    summary:
      'says which packs a saved workflow needs, locks them, or says what their updates break',
    help: [
      '--from          a lock file: the versions that are installed',
      '--to            of check: the versions to compare with, else the newest that fit',
      '--host-version  the version of the host that the packs must fit',
      '-o, --output    of lock: the file to write, else the terminal',
      '--snapshot      of lock: writes the form that a manager of the host restores',
      '--strict        of check: what may break counts as broken, and what cannot be compared',
    ],
    options: {
      from: { type: 'string' },
      to: { type: 'string' },
      'host-version': { type: 'string' },
      output: { type: 'string', short: 'o' },
      snapshot: { type: 'boolean' },
      strict: { type: 'boolean' },
    },
    run: async (context) => {
      const [verb = 'none'] = context.positionals
      if (!Object.hasOwn(VERBS, verb))
        throw new UsageError(
          `behind workflow must be ${Object.keys(VERBS).join(', ')}, got ${verb}`,
        )
      return await VERBS[verb as keyof typeof VERBS](context)
    },
  },
}
