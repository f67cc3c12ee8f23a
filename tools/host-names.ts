/**
 * Writes the names of the host's own nodes into the facts about the host, of a checkout of it: `npm run host:names -- <folder>
 * <commit> <date>`. The modules are read as packs are, without running anything of them.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { BUILT_IN_NODE_NAMES } from '../packages/inspector/src/host-nodes.ts'
import { makeHostFacts } from '../packages/inspector/src/host/make-facts.ts'
import { makeInterpreter } from '../packages/inspector/src/interpret/interpreter.ts'
import { LIBRARY } from '../packages/inspector/src/interpret/library/library.ts'
import { findNodes } from '../packages/inspector/src/nodes/find-nodes.ts'
import { makePack } from '../packages/inspector/src/pack.ts'
import { makePythonParser, type PythonParser } from '../packages/inspector/src/python/parse.ts'
import { decodeSource } from '../packages/inspector/src/python/source-text.ts'
import { ROOT } from '../src/local/root.ts'

const FACTS = join(ROOT, 'packages/inspector/src/host/facts.json')
/** Line of a module in the file, which the formatter leaves alone. */
const LINE = /^ {6}"((?:nodes|comfy_extras\.\w+|comfy_api_nodes\.\w+))": (\{.*\}),?\n/gm

/** Modules by their dotted name: the host's own, those that it lists, and all that call services. */
const listModules = async (root: string): Promise<[string, string][]> => {
  const own = await readFile(join(root, 'nodes.py'), 'utf8')
  const [, listed = ''] = /extras_files = \[([^\]]*)\]/.exec(own) ?? []
  const extras = [...listed.matchAll(/"(nodes_\w+)\.py"/g)].map(([, name = '']) => name)
  const services = (await readdir(join(root, 'comfy_api_nodes')))
    .filter((name) => /^nodes_\w+\.py$/.test(name))
    .map((name) => name.slice(0, -'.py'.length))
  const paths = [
    'nodes',
    ...extras.toSorted().map((name) => `comfy_extras/${name}`),
    ...services.toSorted().map((name) => `comfy_api_nodes/${name}`),
  ]
  return paths.map((path) => [path.replace('/', '.'), join(root, `${path}.py`)])
}

const listNames = (source: Buffer, parser: PythonParser): string[] => {
  const entry = {
    path: '__init__.py',
    bytes: source.length,
    sha256: '',
    head: source,
    text: source,
  }
  const interpreter = makeInterpreter({
    pack: makePack([{ ...entry, mode: 0o644, executable: false }]),
    parser,
    decodeSource,
    library: LIBRARY,
    facts: makeHostFacts(),
    now: () => 0,
  })
  return findNodes(interpreter).nodes.map(({ name }) => name)
}

/** The class of a node: the one that its mapping names, or the one whose body holds the name. */
const classOf = (name: string, source: string): string => {
  const quoted = `["']${name.replaceAll(/[^\w ]/g, '\\$&')}["']`
  const mapped = new RegExp(`${quoted}\\s*:\\s*([A-Z_]\\w*)\\s*[,}\\n]`, 'i').exec(source)?.[1]
  const before = source.slice(
    0,
    Math.max(0, source.search(new RegExp(`node_?id\\s*=\\s*${quoted}`, 'i'))),
  )
  return mapped ?? [...before.matchAll(/^class (\w+)/gm)].at(-1)?.[1] ?? name
}

const run = async (root: string, commit: string, date: string): Promise<void> => {
  const parser = await makePythonParser()
  const lines: string[] = []
  const names = new Set<string>()
  for (const [module, path] of await listModules(root)) {
    const source = await readFile(path)
    const found = listNames(source, parser)
    if (found.length === 0) process.stderr.write(`${module} has no node\n`)
    for (const name of found) names.add(name)
    const classes = found.map((name) => [name, classOf(name, source.toString())])
    if (found.length > 0)
      lines.push(`      "${module}": ${JSON.stringify(Object.fromEntries(classes))}`)
  }
  parser.close()
  const before = await readFile(FACTS, 'utf8')
  const start = before.search(LINE)
  if (start === -1) throw new Error(`${FACTS} has no line of nodes: nothing is written`)
  const rest = before.slice(start).replaceAll(LINE, '')
  const head = before
    .slice(0, start)
    .replace(
      /("nodes": \{\n {4}"source": ").*"/,
      `$1nodes.py, comfy_extras/nodes_*.py, comfy_api_nodes/nodes_*.py, of ${commit} (${date})"`,
    )
  await writeFile(FACTS, `${head}${lines.join(',\n')}\n${rest}`)
  const gone = [...BUILT_IN_NODE_NAMES].filter((name) => !names.has(name))
  process.stdout.write(`${names.size} names; no more: ${gone.join(', ') || 'none'}\n`)
}

const [root, commit, date] = process.argv.slice(2)
if (root === undefined || commit === undefined || date === undefined) {
  process.stderr.write('usage: npm run host:names -- <folder> <commit> <date>\n')
  process.exitCode = 2
} else await run(root, commit, date)
