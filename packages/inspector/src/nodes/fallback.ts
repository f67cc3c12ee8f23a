import type { ExtractedNode, How } from '../inspection.ts'
import type { Interpreter } from '../interpret/interpreter.ts'
import type { ModuleValue } from '../interpret/types.ts'
import type { Expression, Statement } from '../python/ast.ts'
import { readModule, readNamed } from './find-nodes.ts'
import { UNKNOWN_NODE } from './unknown-node.ts'

/** Contents by path relative to the pack's root. */
type Files = ReadonlyMap<string, Uint8Array>

/**
 * Nodes where the evaluation of the whole gave none and was incomplete: those that the pack lists itself, else those of
 * the modules whose mapping the pack would have taken, each evaluated alone. Undefined without any.
 */
export const findByFallback = (
  files: Files,
  interpreter: Interpreter,
): { how: How; nodes: ExtractedNode[] } | undefined => {
  const listed = readNodeList(files.get('node_list.json'))
  if (listed.size > 0) return { how: 'node_list', nodes: [...listed].map(toNode) }
  const nodes = new Map<string, ExtractedNode>()
  for (const path of listModules(files, new Set(interpreter.parsedFiles().keys()))) {
    const module = interpreter.importFile(path)
    if (!module) continue
    const own = readModule(interpreter, module).nodes
    for (const node of own.length > 0 ? own : readLiterals(interpreter, path, module))
      if (!nodes.has(node.name)) nodes.set(node.name, node)
  }
  return nodes.size > 0 ? { how: 'literal_scan', nodes: [...nodes.values()] } : undefined
}

const toNode = ([name, description]: [string, string]): ExtractedNode => ({
  ...UNKNOWN_NODE,
  name,
  description,
  dynamic: UNKNOWN_NODE.dynamic.filter((field) => field !== 'description' || description === ''),
})

/** `node_list.json`: an object, name → description. */
const readNodeList = (bytes: Uint8Array | undefined): Map<string, string> => {
  if (!bytes) return new Map()
  try {
    const list: unknown = JSON.parse(new TextDecoder().decode(bytes))
    if (typeof list !== 'object' || list === null || Array.isArray(list)) return new Map()
    return new Map(
      Object.entries(list)
        .map(([name, text]): [string, string] => [
          name.trim(),
          typeof text === 'string' ? text : '',
        ])
        .filter(([name]) => name !== ''),
    )
  } catch {
    return new Map()
  }
}

const MAPPING = 'NODE_CLASS_MAPPINGS'

/**
 * Files with a mapping that the root reaches or that lie where hosts look: beside it and in `nodes`. Those of a folder
 * whose `__init__.py` has a mapping stand behind it; without one in it they count only if they were reached.
 */
const listModules = (files: Files, reached: ReadonlySet<string>): string[] => {
  const decoder = new TextDecoder()
  const hasMapping = (path: string): boolean =>
    MAPPINGS.test(decoder.decode(files.get(path) ?? new Uint8Array()))
  const isBehind = (path: string): boolean =>
    foldersOf(path)
      .map((folder) => `${folder}/__init__.py`)
      .some((init) => init !== path && files.has(init) && (!reached.has(path) || hasMapping(init)))
  return [...files.keys()]
    .filter((path) => path.endsWith('.py') && path !== '__init__.py' && !ASIDE.test(path))
    .filter((path) => reached.has(path) || !path.includes('/') || path.startsWith('nodes/'))
    .filter((path) => hasMapping(path) && !isBehind(path))
    .toSorted()
}

const MAPPINGS = /\b(NODE_CLASS_MAPPINGS|comfy_entrypoint)\b/

/** Tests, documents and examples are never nodes of the pack; nor is what installs it. */
const ASIDE =
  /(^|\/)((tests?|testing|docs?|examples?|samples?)\/|(tests?|examples?|conftest|setup|install)(_[^/]*)?\.py$|[^/]*_test\.py$)/i

/** Folders above a file, below the root. */
const foldersOf = (path: string): string[] => {
  const segments = path.split('/').slice(0, -1)
  return segments.map((_, index) => segments.slice(0, index + 1).join('/'))
}

/** Reads dicts that are written as a mapping anywhere in the module, of names that are classes of nodes. */
const readLiterals = (
  interpreter: Interpreter,
  path: string,
  module: ModuleValue,
): ExtractedNode[] => {
  const found = new Map<string, Expression>()
  collect(interpreter.parseFile(path)?.body ?? [], found)
  return [...found].flatMap(([name, expression]) => {
    const value = expression.kind === 'Name' ? module.namespace.get(expression.id) : undefined
    return readNamed(interpreter, { name, value }) ?? []
  })
}

const collect = (statements: readonly Statement[], found: Map<string, Expression>): void => {
  for (const statement of statements) {
    for (const [key, value] of entriesOf(statement)) found.set(key, value)
    for (const block of blocksOf(statement)) collect(block, found)
  }
}

const entriesOf = (statement: Statement): [string, Expression][] => {
  if (statement.kind !== 'Assign' && statement.kind !== 'AnnAssign') return []
  const targets = statement.kind === 'Assign' ? statement.targets : [statement.target]
  const isMapping = targets.some((target) => target.kind === 'Name' && target.id === MAPPING)
  if (!isMapping || statement.value?.kind !== 'Dict') return []
  return statement.value.items.flatMap(({ key, value }): [string, Expression][] =>
    key?.kind === 'Constant' && typeof key.value === 'string' ? [[key.value, value]] : [],
  )
}

const blocksOf = (statement: Statement): Statement[][] => {
  switch (statement.kind) {
    case 'If':
    case 'For':
    case 'While':
      return [statement.body, statement.orelse]
    case 'With':
    case 'FunctionDef':
    case 'ClassDef':
      return [statement.body]
    case 'Try':
      return [
        statement.body,
        ...statement.handlers.map(({ body }) => body),
        statement.orelse,
        statement.finalbody,
      ]
    case 'Match':
      return statement.cases.map(({ body }) => body)
    default:
      return []
  }
}
