/**
 * Counts how many names of host nodes the service would find, of workflows that people have saved: `npm run measure:workflows --
 * <folder>`. The folder holds packs, each in a folder `owner+name`; every JSON file of them that is a workflow is counted.
 */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { readSections } from '../../packages/inspector/src/command/read-input.ts'
import { BUILT_IN_NODE_NAMES } from '../../packages/inspector/src/host-nodes.ts'
import { findProjectText, normalName } from '../../packages/inspector/src/pack.ts'
import { makePythonParser, type PythonParser } from '../../packages/inspector/src/python/parse.ts'
import { EDITOR_NODES } from '../../src/registry/domain/graph/graph.ts'
import { readGraph } from '../../src/registry/domain/graph/read-graph.ts'
import { HOST_REPLACEMENTS } from '../../src/registry/domain/graph/replacements.ts'
import { HOST_PACK } from '../../src/registry/domain/graph/resolve.ts'
import { toJson } from '../../src/registry/domain/graph/to-json.ts'

/** Sources of a name. */
const SOURCES = {
  host: 'in the table of the host',
  host_replaced: 'replaced by the host',
  host_word: 'of the host by the word of the workflow alone',
  pack: 'host node of a pack',
  pack_replaced: 'replaced by a pack',
  editor: 'node of the editor alone',
  recorded: 'not found: saved with a pack at hand that does not list it, or cannot be read',
  nobody: 'not found, and saved with no pack that is named',
  foreign: 'not counted: saved with a pack that is not at hand',
} as const
type Source = keyof typeof SOURCES

const SHOWN = 40

const known = {
  pack: new Set<string>(),
  pack_replaced: new Set<string>(),
  editor: new Set<string>(),
}
/** Names of the packs at hand, by repository and project. */
const packNames = new Set<string>()
const unread: string[] = []

const readPack = async (folder: string, parser: PythonParser): Promise<void> => {
  const repository = folder.replace(/^.*[/+]/, '')
  const project = await readFile(join(folder, 'pyproject.toml')).catch(() => undefined)
  for (const name of [repository, findProjectText(project, 'name') ?? ''])
    packNames.add(normalName(name))
  const { nodes } = await readSections(folder, parser, (section) => section !== 'findings')
  if (nodes?.status !== 'success') unread.push(`${repository} (${nodes?.reason})`)
  for (const { name } of nodes?.nodes ?? []) known.pack.add(name)
  for (const { name, replaced_by: by } of nodes?.workflow_names ?? [])
    known[by ? 'pack_replaced' : 'editor'].add(name)
}

const sourceOf = (name: string, pack: string | undefined): Source => {
  if (EDITOR_NODES.has(name)) return 'editor'
  if (BUILT_IN_NODE_NAMES.has(name)) return 'host'
  for (const source of ['pack', 'editor', 'pack_replaced'] as const)
    if (known[source].has(name)) return source
  if (HOST_REPLACEMENTS.has(name)) return 'host_replaced'
  if (pack === undefined) return 'nobody'
  if (pack === HOST_PACK) return 'host_word'
  return packNames.has(normalName(pack.replace(/^.*\//, ''))) ? 'recorded' : 'foreign'
}

/** Names of a file's host nodes with the pack that the workflow names; none of what is no workflow. */
const readNames = async (path: string): Promise<Map<string, string | undefined>> => {
  const value: unknown = await readFile(path, 'utf8')
    .then(JSON.parse)
    .catch(() => undefined)
  const graph = value === undefined ? undefined : readGraph(toJson(value))
  const nodes = graph?.nodes.map(({ hostNode, pack }) => [hostNode, pack] as const) ?? []
  return new Map([...nodes, ...nodes.filter(([, pack]) => pack).toReversed()])
}

const listJson = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && entry.name.endsWith('.json'))
  return files.map(({ parentPath, name }) => join(parentPath, name))
}

const run = async (root: string): Promise<void> => {
  const parser = await makePythonParser()
  const folders = (await readdir(root)).toSorted().map((name) => join(root, name))
  for (const folder of folders) await readPack(folder, parser)
  parser.close()
  const counts = new Map<Source, number>()
  const missed = new Map<string, { count: number; packs: Set<string> }>()
  const files = new Set<string>()
  for (const folder of folders)
    for (const path of await listJson(folder))
      for (const [name, pack] of await readNames(path)) {
        files.add(path)
        const source = sourceOf(name, pack)
        counts.set(source, (counts.get(source) ?? 0) + 1)
        if (source !== 'nobody' && source !== 'recorded') continue
        const { count, packs } = missed.get(name) ?? { count: 0, packs: new Set() }
        missed.set(name, { count: count + 1, packs: packs.add(folder.slice(root.length + 1)) })
      }
  const of = (source: Source): number => counts.get(source) ?? 0
  const all = [...counts.values()].reduce((sum, count) => sum + count, 0) - of('foreign')
  const found = ((all - of('recorded') - of('nobody')) / all) * 100
  const lines = [
    `${files.size} workflows, ${folders.length} packs; each name once a workflow`,
    `not read: ${unread.join(', ') || 'none'}`,
    ...Object.entries(SOURCES).map(([name, text]) => `${of(name as Source)}  ${text}`),
    `found: ${found.toFixed(2)} %`,
    ...[...missed]
      .toSorted(([, a], [, b]) => b.count - a.count)
      .slice(0, SHOWN)
      .map(([name, { count, packs }]) => `${count}  ${name}  (${[...packs].join(', ')})`),
  ]
  process.stdout.write(`${lines.join('\n')}\n`)
}

const [folder] = process.argv.slice(2)
if (folder === undefined) {
  process.stderr.write('usage: npm run measure:workflows -- <folder>\n')
  process.exitCode = 2
} else await run(folder.replace(/\/+$/, ''))
