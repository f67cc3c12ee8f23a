import type { ExtractedNode, How } from '../inspection.ts'
import type { Module, Statement } from '../python/ast.ts'

interface FallbackFiles {
  /** Contents by path relative to the pack's root. */
  files: ReadonlyMap<string, Uint8Array>
  parseFile(path: string): Module | undefined
}

/**
 * Names of nodes where the evaluation gave none and was incomplete: those that the pack lists itself, else the keys of
 * every dict that is written as the mapping. Undefined without any.
 */
export const findByFallback = (
  pack: FallbackFiles,
): { how: How; nodes: ExtractedNode[] } | undefined => {
  const listed = readNodeList(pack.files.get('node_list.json'))
  if (listed.size > 0) return { how: 'node_list', nodes: [...listed].map(toNode) }
  const written = scanLiterals(pack)
  if (written.size === 0) return undefined
  return { how: 'literal_scan', nodes: [...written].map((name) => toNode([name, ''])) }
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

const scanLiterals = ({ files, parseFile }: FallbackFiles): Set<string> => {
  const names = new Set<string>()
  for (const path of [...files.keys()].toSorted())
    if (path.endsWith('.py')) collect(parseFile(path)?.body ?? [], names)
  return names
}

const collect = (statements: readonly Statement[], names: Set<string>): void => {
  for (const statement of statements) {
    for (const key of keysOf(statement)) names.add(key)
    for (const block of blocksOf(statement)) collect(block, names)
  }
}

const keysOf = (statement: Statement): string[] => {
  if (statement.kind !== 'Assign' && statement.kind !== 'AnnAssign') return []
  const targets = statement.kind === 'Assign' ? statement.targets : [statement.target]
  const isMapping = targets.some((target) => target.kind === 'Name' && target.id === MAPPING)
  if (!isMapping || statement.value?.kind !== 'Dict') return []
  return statement.value.items.flatMap(({ key }) =>
    key?.kind === 'Constant' && typeof key.value === 'string' ? [key.value] : [],
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

/** A node of which nothing is known. */
export const UNKNOWN_NODE: ExtractedNode = {
  name: '',
  category: '',
  description: '',
  function: '',
  deprecated: false,
  experimental: false,
  input_types: '{"required":{}}',
  return_types: '[]',
  return_names: '[]',
  output_is_list: [],
  dynamic: [
    'category',
    'description',
    'function',
    'input_types',
    'return_types',
    'return_names',
    'output_is_list',
  ],
}
