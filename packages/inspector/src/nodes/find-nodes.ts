import { adviceOf } from '../advice.ts'
import { advise, adviceOnEntry, hintsOf, type Advice } from './advise.ts'
import {
  isClass,
  isInstanceValue,
  isObject,
  isUnknown,
  nameOf,
} from '../interpret/values/read-value.ts'
import { dictEntries, dictKey } from '../interpret/values/dict.ts'
import { choicesOf } from '../interpret/values/merge-values.ts'
import { BUILT_IN_NODE_NAMES } from '../host/make-facts.ts'
import type { ExtractedNode, NodesSection } from '../inspection.ts'
import type { Interpreter } from '../interpret/interpreter.ts'
import type {
  BaseValue,
  ClassValue,
  DictValue,
  InstanceValue,
  ModuleValue,
  Reason,
  UnknownValue,
  Value,
} from '../interpret/types.ts'
import { makeJsonWriter } from './json-text.ts'
import { isUnknownNode, mayBeNode, readV1Node, type NodeReader } from './v1-node.ts'
import { listV3Classes } from './v3/list-v3-classes.ts'
import { UNKNOWN_NODE } from './unknown-node.ts'
import { readV3Node } from './v3/read-v3-node.ts'

export interface FoundNodes extends Pick<
  NodesSection,
  'nodes' | 'how' | 'dropped' | 'reasons' | 'hints'
> {
  /** State when there is no node: it is known that there is none, or it is not. */
  state: 'known' | 'unknown' | 'raised' | 'no_init' | 'no_mapping' | 'entrypoint_rejected'
  /** Folder of the editor's files, relative to the root, where one is named and is there. */
  webFolder?: string | undefined
}

/**
 * Reads the nodes as the host finds them: by the mapping, or by the entrypoint where there is no mapping.
 */
export const findNodes = (interpreter: Interpreter): FoundNodes => {
  const { module, failure } = interpreter.importEntry()
  if (module) return readModule(interpreter, module)
  return failure ? raisedBy(failure) : { ...NONE, state: 'no_init' }
}

const raisedBy = ({ code, detail }: Reason): FoundNodes => ({
  ...NONE,
  reasons: [code],
  state: 'raised',
  hints: [adviceOf(code, detail)],
})

/** Reads the nodes of a module as the host reads those of a pack. */
export const readModule = (interpreter: Interpreter, entry: ModuleValue): FoundNodes => {
  const advice: Advice = new Map()
  const displayNames = readDisplayNames(interpreter, entry, advice)
  const json = makeJsonWriter(interpreter)
  const found = readAs({ interpreter, json, displayNames, advice }, entry)
  const webFolder = adviseOnWeb(interpreter, entry, advice)
  return { ...found, webFolder, hints: [...(found.hints ?? []), ...hintsOf(advice)] }
}

/** In the older form, or else in the newer one. */
const readAs = (reader: NodeReader, entry: ModuleValue): FoundNodes => {
  const { interpreter } = reader
  const mapping = interpreter.findAttribute(entry, 'NODE_CLASS_MAPPINGS')
  const v1 =
    mapping === undefined || mapping === null ? undefined : readMapping(reader, entry, mapping)
  if (v1 && v1.nodes.length > 0) {
    const entrypoint = interpreter.findAttribute(entry, 'comfy_entrypoint')
    const isIgnored = entrypoint !== undefined && entrypoint !== null && !isUnknown(entrypoint)
    return isIgnored ? { ...v1, hints: [adviceOf('entrypoint_ignored'), ...(v1.hints ?? [])] } : v1
  }
  // An empty mapping beside an entrypoint is more often our failure than the pack's wish.
  const v3 = readEntrypoint(reader, entry)
  if (v3 && (v3.nodes.length > 0 || !v1)) return v3
  if (v1) return v1
  if (hasWebDirectory(interpreter, entry)) return NONE
  const near = [...entry.namespace.keys()].filter((name) => NEAR_MAPPING.test(name))
  return near.length > 0 ? lacks(near.join(', ')) : { ...NONE, state: 'no_mapping' }
}

/** Nothing that the host takes for nodes, because of something that it does not take. */
const lacks = (about: string, state: 'no_mapping' | 'entrypoint_rejected' = 'no_mapping') => ({
  ...NONE,
  state,
  hints: [adviceOf(state, about)],
})

/** Names that were meant to be that of the mapping. */
const NEAR_MAPPING = /^nodes?_?class(es)?_?mappings?$/i

/** Names that the pack's other mapping gives. */
const readDisplayNames = (interpreter: Interpreter, entry: ModuleValue, advice: Advice) => {
  const given = interpreter.findAttribute(entry, DISPLAY_NAMES) ?? null
  const dict = given === null ? undefined : interpreter.asDict(given)
  if (given !== null && !dict && !isUnknown(given))
    advise(advice, 'display_names_unread', `${DISPLAY_NAMES} is a ${nameOf(given)}`)
  const textsOf = (value: Value) =>
    choicesOf(value).map((one) => (isUnknown(one) ? undefined : interpreter.text(one)))
  return new Map(
    (dict ? dictEntries(dict) : []).flatMap(([key, value]) =>
      textsOf(key).map((name) => [name, textsOf(value)] as const),
    ),
  )
}

const DISPLAY_NAMES = 'NODE_DISPLAY_NAME_MAPPINGS'

const NONE: FoundNodes = { nodes: [], how: 'none', dropped: 0, reasons: [], state: 'known' }

const readMapping = (reader: NodeReader, entry: ModuleValue, mapping: Value): FoundNodes => {
  const { interpreter } = reader
  const dict = interpreter.asDict(mapping)
  if (!dict && !isUnknown(mapping) && !isInstanceValue(mapping))
    return lacks(`NODE_CLASS_MAPPINGS is a ${nameOf(mapping)}`)
  if (!dict) {
    const place = placeOf(interpreter, entry, 'NODE_CLASS_MAPPINGS')
    const hints = place === '' ? [] : [adviceOf('mapping_unknown', `${place}NODE_CLASS_MAPPINGS`)]
    return { ...NONE, reasons: ['mapping_unknown'], state: 'unknown', hints }
  }
  const found = readEntries(reader, dict)
  const isOfHost = mapping === interpreter.runtime.facts.find('nodes.NODE_CLASS_MAPPINGS')
  if (isOfHost && found.nodes.every(({ name }) => BUILT_IN_NODE_NAMES.has(name)))
    return { ...NONE, hints: [adviceOf('mapping_of_host')] }
  // Node classes that something unknown got, and none in the mapping: it puts them there.
  const { gaveNodes } = interpreter.runtime.state
  const isOpen = dict.rest || interpreter.mayLackNodes() || (found.nodes.length === 0 && gaveNodes)
  const isWhole = !isOpen && found.reasons.length === 0
  return {
    ...found,
    how: found.nodes.length > 0 ? 'v1' : 'none',
    reasons: isOpen ? [...found.reasons, 'mapping_rest'] : found.reasons,
    state: isWhole ? 'known' : 'unknown',
  }
}

const readEntries = (reader: NodeReader, dict: DictValue): Omit<FoundNodes, 'how' | 'state'> => {
  const { interpreter, advice } = reader
  const nodes = new Map<string, ExtractedNode>()
  const reasons = new Set<string>()
  let dropped = 0
  const conditional = new Set([...(dict.maybe ?? [])].map((hash) => dictKey(dict, hash)))
  for (const [key, value] of dictEntries(dict)) {
    const name = isUnknown(key) ? undefined : interpreter.text(key)
    if (name === undefined) {
      reasons.add('name_unresolved')
      if (isClass(value)) advise(advice, 'name_unresolved', `class ${value.name}`)
      continue
    }
    const read = readNodes(reader, name, value)
    const code = adviceOnEntry(value, read.length > 0)
    if (code !== undefined) advise(advice, code, name)
    if (choicesOf(value).some((one) => isUnknown(one) && mayBeNode(one)))
      reasons.add('value_unknown')
    else if (read.length === 0) dropped += 1
    for (const node of read) nodes.set(name, markName(node, conditional.has(key)))
    if (code === 'entry_ends' && !conditional.has(key)) break
  }
  return { nodes: [...nodes.values()], reasons: [...reasons], dropped }
}

/** Undefined without an entrypoint. */
const readEntrypoint = (reader: NodeReader, entry: ModuleValue): FoundNodes | undefined => {
  const { interpreter, advice } = reader
  const listed = listV3Classes(interpreter, entry)
  if (!listed) return undefined
  if (listed.failure) return raisedBy(listed.failure)
  const { classes, rejected, withoutSchema = [] } = listed
  if (rejected !== undefined) return lacks(rejected, 'entrypoint_rejected')
  const [lacking] = classes.length === 0 ? withoutSchema : []
  if (lacking !== undefined) return lacks(`${lacking} has no define_schema`, 'entrypoint_rejected')
  const nodes = new Map<string, ExtractedNode>()
  const reasons = new Set<string>(listed.complete ? [] : ['mapping_rest'])
  let dropped = 0
  for (const value of listed.classes) {
    const read = readNodes(reader, undefined, value)
    if (read.length === 0) dropped += 1
    for (const node of read)
      if (node.name === '') {
        reasons.add('name_unresolved')
        advise(advice, 'name_unresolved', `class ${nameOf(value)}`)
      } else nodes.set(node.name, markName(node, listed.conditional.has(value)))
  }
  for (const name of withoutSchema) advise(advice, 'schema_missing', name)
  return {
    nodes: [...nodes.values()],
    how: nodes.size > 0 ? 'v3' : 'none',
    dropped,
    reasons: [...reasons],
    state: reasons.size === 0 ? 'known' : 'unknown',
  }
}

/** A name that the pack registers under a condition, mostly that another pack is installed, depends on the machine. */
const markName = (node: ExtractedNode, isConditional: boolean): ExtractedNode =>
  isConditional ? { ...node, dynamic: [...new Set(['host_node_name', ...node.dynamic])] } : node

/** Reads the classes that a value may be, one node for each name, and marks in what they differ; none is no node. */
const readNodes = (reader: NodeReader, name: string | undefined, value: Value): ExtractedNode[] => {
  const choices = choicesOf(value)
  const classes = choices.filter((choice) => isNode(reader.interpreter, choice))
  const nodes = new Map<string, ExtractedNode>()
  for (const node of classes.flatMap((cls) => readNode(reader, name, cls)))
    nodes.set(node.name, markDifferent(nodes.get(node.name) ?? node, node))
  const isConditional = nodes.size > 1 || classes.length < choices.length
  return [...nodes.values()].map((node) => markName(node, isConditional))
}

const markDifferent = (node: ExtractedNode, other: ExtractedNode): ExtractedNode => {
  const differing = FIELDS.filter((field) => String(node[field]) !== String(other[field]))
  return { ...node, dynamic: [...new Set([...node.dynamic, ...other.dynamic, ...differing])] }
}

const { name: _, dynamic: __, ...FIELD_VALUES } = UNKNOWN_NODE
const FIELDS = Object.keys(FIELD_VALUES) as (keyof ExtractedNode)[]

const hasWebDirectory = (interpreter: Interpreter, entry: ModuleValue): boolean => {
  const folder = interpreter.findAttribute(entry, 'WEB_DIRECTORY')
  return folder !== undefined && folder !== null
}

/** Finds the folder of the editor's files, relative to the root, and advises on one that is not in the archive. */
const adviseOnWeb = (
  interpreter: Interpreter,
  entry: ModuleValue,
  advice: Advice,
): string | undefined => {
  const { files } = interpreter.runtime
  const given = interpreter.findAttribute(entry, 'WEB_DIRECTORY') ?? null
  const text = given === null || isUnknown(given) ? undefined : interpreter.text(given)
  if (text === undefined) return undefined
  const path = files.normalise(text.startsWith('/') ? text : `${files.root}/${text}`)
  if (files.isFolder(path) && files.isInside(path)) return path.slice(files.root.length + 1)
  if (files.isInside(path)) {
    const place = placeOf(interpreter, entry, 'WEB_DIRECTORY')
    advise(advice, 'web_directory_missing', `${place}WEB_DIRECTORY is "${text}"`)
  }
  return undefined
}

/** File and line that last assign a name of a module, as `__init__.py, line 2: `; empty where none does plainly. */
const placeOf = (interpreter: Interpreter, { file = '' }: ModuleValue, name: string): string => {
  const path = file.slice(interpreter.runtime.files.root.length + 1)
  const line = interpreter
    .parseFile(path)
    ?.body.findLast(
      (statement) =>
        statement.kind === 'Assign' &&
        statement.targets.some((target) => target.kind === 'Name' && target.id === name),
    )?.line
  return line === undefined ? '' : `${path}, line ${line}: `
}

/** Attributes that tell a node class apart from others. */
const NODE_ATTRIBUTES = ['INPUT_TYPES', 'RETURN_TYPES', 'define_schema', 'GET_SCHEMA']

/** True for a node in the mapping; false for functions, modules and constants, which packs put there by mistake. */
const isNode = (
  interpreter: Interpreter,
  value: Value,
): value is ClassValue | UnknownValue | InstanceValue => {
  if (!isObject(value)) return false
  if (value.kind === 'unknown') return isUnknownNode(value)
  const cls = isInstanceValue(value) ? value.cls : value
  return isClass(cls) && cls.home === 'pack' && isNodeClass(interpreter, cls)
}

const isNodeClass = (interpreter: Interpreter, cls: ClassValue): boolean =>
  NODE_ATTRIBUTES.some((name) =>
    [cls, cls.metaclass].some(
      (one) => isClass(one) && interpreter.findInClass(one, name) !== undefined,
    ),
  ) || cls.mro.some(isForeign)

/** A base outside of pack and standard library may bring all of it. */
const isForeign = (base: BaseValue): boolean =>
  base.kind === 'unknown' && base.origin !== 'standard-library' && base.origin !== 'machine'

/**
 * Reads a node of either form. Without `name` the class has to define its names, of which one is empty when it can't be
 * known. Of a class outside of the pack only the facts about the host are known.
 */
const readNode = (
  reader: NodeReader,
  name: string | undefined,
  cls: ClassValue | UnknownValue | InstanceValue,
): ExtractedNode[] => {
  if (!isClass(cls) || !hasSchema(reader.interpreter, cls))
    return [readV1Node(reader, name ?? '', cls)]
  const read = readV3Node(reader.interpreter, reader.json, cls)
  if (!read) return [{ ...UNKNOWN_NODE, name: name ?? '' }]
  const names = name === undefined ? read.ids : [name]
  return names.map((one = '') => ({ name: one, ...read.fields }))
}

/** A class with a schema of its own, unless it also has the older form without being one of the newer base. */
const hasSchema = (interpreter: Interpreter, cls: ClassValue): boolean => {
  const schema = interpreter.findInClass(cls, 'define_schema')
  return schema !== undefined && !isUnknown(schema)
}
