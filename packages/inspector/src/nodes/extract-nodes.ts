import { adviceOf } from '../advice.ts'
import { BUILT_IN_NODE_NAMES, makeHostFacts } from '../host/make-facts.ts'
import { listEditorNodes } from '../editor/editor-nodes.ts'
import type { ExtractedNode, NodesSection, WorkflowName } from '../inspection.ts'
import { makeInterpreter, type Interpreter } from '../interpret/interpreter.ts'
import type { Reason } from '../interpret/types.ts'
import { LIBRARY } from '../interpret/library/library.ts'
import { findProjectText, type Pack } from '../pack.ts'
import type { Module } from '../python/ast.ts'
import type { PythonParser } from '../python/parse.ts'
import { decodeSource } from '../python/source-text.ts'
import { EXTRACTOR_VERSION } from '../versions.ts'
import { hintAbout } from './advise.ts'
import { findByFallback, readNodeList } from './fallback.ts'
import { findNodes, type FoundNodes } from './find-nodes.ts'
import { findNeededPython } from './python-version.ts'
import { listReplaced } from './replacements.ts'

interface ExtractOptions {
  pack: Pack
  parser: PythonParser
  /** Milliseconds that only grow. */
  now(): number
  /** Leaves the nodes out: files are parsed for the scan alone. */
  skip?: boolean
}

interface Extracted {
  section: NodesSection | undefined
  /** The parsed file of an archive path, each parsed once; undefined when it cannot be. */
  parseFile(path: string): Module | undefined
  /** Archive paths of the files that `__init__.py` reaches. */
  reached: ReadonlySet<string>
}

/** Most nodes of one pack. */
const NODES_MAX = 5000
/** Most characters of all texts of one pack. */
const TEXT_MAX = 16 * 2 ** 20

/** Finds the host nodes of a pack by static interpretation. Never throws, whatever the pack is. */
export const extractNodes = ({ pack, parser, now, skip = false }: ExtractOptions): Extracted => {
  const start = now()
  const interpreter = makeInterpreter({
    pack,
    parser,
    decodeSource,
    library: LIBRARY,
    facts: makeHostFacts(),
    now,
  })
  const found = skip ? undefined : findNodes(interpreter)
  // Before the fallback, which reads more.
  const reached = new Set([...interpreter.parsedFiles().keys()].map((path) => pack.root + path))
  const section = found && makeSection(pack, interpreter, found)
  if (section) Object.assign(section.stats, { ms: Math.round(now() - start) })
  return { section, reached, parseFile: (path) => parseAny(pack, interpreter, parser, path) }
}

/** Files beside the pack's root are no part of the interpreter's file system. */
const parseAny = (
  pack: Pack,
  interpreter: Interpreter,
  parser: PythonParser,
  path: string,
): Module | undefined => {
  if (path.startsWith(pack.root)) return interpreter.parseFile(path.slice(pack.root.length))
  const text = pack.entries.find((entry) => entry.path === path)?.text
  return text && parser.parse(decodeSource(text))
}

const makeSection = (pack: Pack, interpreter: Interpreter, found: FoundNodes): NodesSection => {
  const { parseMilliseconds, files, bytes, steps } = interpreter.stats()
  const stats = { files, bytes, steps, parse_ms: Math.round(parseMilliseconds) }
  const reasons = [...new Set([...interpreter.reasons().map(({ code }) => code), ...found.reasons])]
  const hints = [
    ...(found.hints ?? []),
    ...hintAbout('built_in_name', found.nodes.map(nameOf).filter(isBuiltIn)),
    ...placeHints(interpreter.reasons()),
    ...pythonHints(pack, interpreter),
    ...elsewhereHints(interpreter),
    ...(readNodeList(pack.files) ? [] : [adviceOf('node_list_invalid')]),
  ]
  const own = capNodes(found.nodes.filter(({ name }) => !isBuiltIn(name)))
  if (own.isCut) reasons.push('budget_text')
  const workflowNames = listWorkflowNames(pack, interpreter, found)
  const partial = reasons.length > 0
  const whole = {
    extractorVersion: EXTRACTOR_VERSION,
    dropped: found.dropped,
    stats,
    ...(hints.length > 0 && { hints }),
    ...(workflowNames.length > 0 && { workflow_names: workflowNames }),
    partial,
    reasons,
  }
  if (own.nodes.length > 0 || found.nodes.length > 0)
    return { ...whole, status: 'success', how: found.how, nodes: own.nodes }
  const fallback =
    partial && found.state !== 'raised' ? findByFallback(pack.files, interpreter) : undefined
  if (fallback) return { ...whole, status: 'success', ...fallback }
  const failure = failureOf(found, reasons)
  if (failure !== undefined)
    return { ...whole, status: 'failed', reason: failure, how: 'none', nodes: [] }
  return { ...whole, status: 'success', how: 'none', nodes: [] }
}

/** Names of the editor's own and replaced ones; a host node of the pack is neither. */
const listWorkflowNames = (
  pack: Pack,
  interpreter: Interpreter,
  { nodes, webFolder }: FoundNodes,
): WorkflowName[] => {
  const replaced = listReplaced(interpreter).map((one): [string, WorkflowName] => [one.name, one])
  const names = new Map(replaced)
  for (const name of listEditorNodes(pack, webFolder)) names.set(name, { name })
  for (const { name } of nodes) names.delete(name)
  return [...names.values()]
}

/** Why a pack without a known node has failed; undefined for one that has none, such as one of interface files. */
const failureOf = ({ state }: FoundNodes, reasons: readonly string[]): string | undefined => {
  if (state === 'no_init' || state === 'no_mapping' || state === 'entrypoint_rejected') return state
  if (state === 'known') return undefined
  if (state === 'raised') return reasons.at(-1)
  return reasons.find((reason) => reason.startsWith('budget_')) ?? 'mapping_unknown'
}

const nameOf = ({ name }: ExtractedNode): string => name

const isBuiltIn = (name: string): boolean => BUILT_IN_NODE_NAMES.has(name)

/** Names syntax that hosts with an older Python do not read, unless the project says that it needs that version. */
const pythonHints = ({ files }: Pack, interpreter: Interpreter): string[] => {
  const required = findProjectText(files.get('pyproject.toml'), 'requires-python')
  const least = Number(/>=?\s*3\.(\d+)/.exec(required ?? '')?.[1] ?? 0)
  const needed = findNeededPython(interpreter.parsedFiles()).filter(({ minor }) => minor > least)
  const said = required === undefined ? '' : `, but requires-python is ${required}`
  const places = needed.map(
    ({ file, line, minor, syntax }) =>
      `${file}, line ${line}: ${syntax}, of Python 3.${minor}${said}`,
  )
  return hintAbout('needs_python', places)
}

/** Names what the pack uses and not every host has, with its place. */
const elsewhereHints = (interpreter: Interpreter): string[] => {
  const { root } = interpreter.runtime.files
  const notes = interpreter.notes().filter(({ kind }) => kind === 'elsewhere')
  const places = notes.map(
    ({ file, line, message }) => `${file.slice(root.length + 1)}, line ${line}: ${message}`,
  )
  return hintAbout('elsewhere', places)
}

/** Sentences of the reasons that are about a file or module, with some of those. */
const placeHints = (reasons: readonly Reason[]): string[] =>
  ['own_module_missing', 'unparsable'].flatMap((code) =>
    hintAbout(
      code,
      reasons.flatMap((reason) => (reason.code === code ? reason.detail : [])),
    ),
  )

const capNodes = (nodes: ExtractedNode[]): { nodes: ExtractedNode[]; isCut: boolean } => {
  let room = TEXT_MAX
  const kept: ExtractedNode[] = []
  for (const node of nodes) {
    room -= JSON.stringify(node).length
    if (room < 0 || kept.length >= NODES_MAX) return { nodes: kept, isCut: true }
    kept.push(node)
  }
  return { nodes: kept, isCut: false }
}
