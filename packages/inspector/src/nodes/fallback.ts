import type { ExtractedNode, How } from '../inspection.ts'
import type { Interpreter } from '../interpret/interpreter.ts'
import { makeDict, setEntry } from '../interpret/operate/mapping.ts'
import type { ModuleValue, Value } from '../interpret/types.ts'
import { isClass } from '../interpret/values/read-value.ts'
import type { Dict, Expression, Statement } from '../python/ast.ts'
import { nodesWithin } from '../python/nodes-within.ts'
import { readModule } from './find-nodes.ts'
import { UNKNOWN_NODE } from './unknown-node.ts'

/** Contents by path relative to the pack's root. */
type Files = ReadonlyMap<string, Uint8Array>

/**
 * Nodes where the evaluation of the whole gave none and was incomplete: those of the modules whose mapping the pack would
 * have taken, each evaluated alone. The names are those that the pack lists itself, if it does. Undefined without any.
 */
export const findByFallback = (
  files: Files,
  interpreter: Interpreter,
): { how: How; nodes: ExtractedNode[] } | undefined => {
  const nodes = new Map<string, ExtractedNode>()
  for (const path of listModules(files, new Set(interpreter.parsedFiles().keys()))) {
    const module = interpreter.importFile(path)
    if (!module) continue
    let found = readModule(interpreter, module).nodes
    if (found.length === 0) {
      module.namespace.set(MAPPING, literalMapping(interpreter, module))
      found = readModule(interpreter, module).nodes
    }
    for (const node of found) if (!nodes.has(node.name)) nodes.set(node.name, node)
  }
  const listed = [...(readNodeList(files) ?? [])].map((entry) => toNode(entry, nodes))
  if (listed.length > 0) return { how: 'node_list', nodes: listed }
  return nodes.size > 0 ? { how: 'literal_scan', nodes: [...nodes.values()] } : undefined
}

/** Makes a node of an entry, which takes the place of nothing that is known. */
const toNode = ([name, text]: [string, string], read: Map<string, ExtractedNode>) => {
  const node = read.get(name) ?? UNKNOWN_NODE
  const dynamic = node.dynamic.filter((field) => field !== 'description' || text === '')
  return { ...node, name, description: node.description || text, dynamic }
}

/** `node_list.json`: an object, name → description. Empty without the file, undefined where it is something else. */
export const readNodeList = (files: Files): Map<string, string> | undefined => {
  try {
    const list: unknown = JSON.parse(new TextDecoder().decode(files.get('node_list.json')) || '{}')
    if (typeof list !== 'object' || list === null || Array.isArray(list)) return undefined
    return new Map(
      Object.entries(list)
        .map(([name, text]) => [name.trim(), typeof text === 'string' ? text : ''] as const)
        .filter(([name]) => name !== ''),
    )
  } catch {
    return undefined
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

/** Everything that is written as the mapping anywhere in a module, as far as it is a class. */
const literalMapping = ({ runtime }: Interpreter, module: ModuleValue): Value => {
  const mapping = makeDict(runtime, [])
  for (const part of nodesWithin(runtime.parser.parse(module.file ?? '')))
    for (const { key, value } of itemsOf(part)) {
      const cls = value.kind === 'Name' ? module.namespace.get(value.id) : undefined
      if (key?.kind === 'Constant' && typeof key.value === 'string' && isClass(cls))
        setEntry(runtime, mapping, key.value, cls)
    }
  return mapping
}

const itemsOf = (part: Statement | Expression): Dict['items'] => {
  if (part.kind !== 'Assign' && part.kind !== 'AnnAssign') return []
  const targets = part.kind === 'Assign' ? part.targets : [part.target]
  const isMapping = targets.some((target) => target.kind === 'Name' && target.id === MAPPING)
  return isMapping && part.value?.kind === 'Dict' ? part.value.items : []
}
