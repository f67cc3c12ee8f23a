import type { ExampleWorkflow, Inspection, ScannedFinding } from './inspection.ts'
import { normalName, type Pack } from './pack.ts'
import { counted } from './words.ts'

/** Folders in which hosts look for the example workflows of a pack. */
const FOLDER = /^(?:example_workflows|workflows?|examples?)\/.+\.json$/i

/** Most examples of a pack, and bytes of one and of all. */
const [EXAMPLES_MAX, BYTES_MAX, ALL_BYTES_MAX] = [100, 4 * 2 ** 20, 2 ** 25]
/** Most host nodes of all examples together, each once in an example; the most that a known pack has are some 1,500. */
const HOST_NODES_MAX = 5_000
const NAME_MAX = 512

/** Lists the example workflows of a pack with the host nodes that they use. A file that holds something else is none. */
export const listExamples = (pack: Pack): ExampleWorkflow[] => {
  const examples: ExampleWorkflow[] = []
  const isInScripts = makeScriptSearch(pack)
  let [bytes, hostNodes] = [0, 0]
  for (const path of pack.paths.filter((one) => FOLDER.test(one))) {
    const content = pack.files.get(path)
    if (!content || content.length > BYTES_MAX || bytes + content.length > ALL_BYTES_MAX) continue
    bytes += content.length
    const read = readExample(content)
    if (!read) continue
    const { form, nodes } = read
    if ((hostNodes += nodes.length) > HOST_NODES_MAX) break
    for (const one of nodes) if (isOwn(pack, one.pack) && !isInScripts(one.name)) one.own = true
    const example = { path: pack.root + path, bytes: content.length, form, host_nodes: nodes }
    if (examples.push(example) === EXAMPLES_MAX) break
  }
  return examples
}

type HostNodes = ExampleWorkflow['host_nodes']

const readExample = (
  content: Uint8Array,
): { form: ExampleWorkflow['form']; nodes: HostNodes } | undefined => {
  const value = parse(new TextDecoder().decode(content))
  if (value === undefined) return { form: 'none', nodes: [] }
  const prompt = [value, fieldsOf(value)['prompt']].map(fieldsOf).find(isApiForm)
  if (Array.isArray(fieldsOf(value)['nodes'])) {
    const nodes = count(listEditorNodes(fieldsOf(value)))
    return nodes.length > 0 ? { form: 'editor', nodes } : undefined
  }
  if (!prompt) return undefined
  const used = Object.values(prompt).map((node) => ({ name: fieldsOf(node)['class_type'] }))
  return { form: 'api', nodes: count(used) }
}

const parse = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

type Fields = Readonly<Record<string, unknown>>

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isApiForm = (value: Fields): boolean => {
  const nodes = Object.values(value)
  return nodes.length > 0 && nodes.every((node) => typeof fieldsOf(node)['class_type'] === 'string')
}

interface Used {
  name: unknown
  pack?: unknown
}

/** Nodes of a workflow with those of its subgraphs and group nodes, which are no nodes of their own. */
const listEditorNodes = (workflow: Fields): Used[] => {
  const subgraphs = listOf(fieldsOf(workflow['definitions'])['subgraphs']).map(fieldsOf)
  const groups = Object.entries(fieldsOf(fieldsOf(workflow['extra'])['groupNodes']))
  const inner = new Set([
    ...subgraphs.map(({ id }) => id),
    ...groups.flatMap(([name]) => [`workflow/${name}`, `workflow>${name}`]),
  ])
  return [workflow, ...subgraphs, ...groups.map(([, group]) => fieldsOf(group))]
    .flatMap(({ nodes }) => listOf(nodes).map(fieldsOf))
    .filter(({ type }) => !inner.has(type))
    .map(({ type: name, properties }) => {
      const { cnr_id, aux_id } = fieldsOf(properties)
      return { name, pack: cnr_id ?? aux_id }
    })
}

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value !== '' && value.length <= NAME_MAX

const count = (used: readonly Used[]): HostNodes => {
  const found = new Map<string, HostNodes[number]>()
  for (const { name, pack } of used) {
    if (!isText(name)) continue
    const one = found.get(name) ?? { name, count: 0 }
    found.set(name, { ...(isText(pack) && { pack }), ...one, count: one.count + 1 })
  }
  return [...found.values()]
}

/** True for the id of the pack, and for `owner/repository` of it. */
const isOwn = ({ ownNames }: Pack, pack: string | undefined): boolean =>
  pack !== undefined && ownNames.includes(normalName(pack.replace(/^.*\//, '')))

const SCRIPTS_MAX = 2 ** 23

/** Host nodes of the editor alone have their names in the scripts of the pack, some without what stands in brackets. */
const makeScriptSearch = ({ files }: Pack) => {
  const known = new Map<string, boolean>()
  let scripts: string | undefined
  const find = (name: string): boolean => {
    scripts ??= [...files]
      .flatMap(([path, text]) => (path.endsWith('.js') ? new TextDecoder().decode(text) : []))
      .join('\n')
      .slice(0, SCRIPTS_MAX)
    return scripts.includes(name) || scripts.includes(name.replace(/ \(.*\)$/, ''))
  }
  return (name: string): boolean => {
    const isFound = known.get(name) ?? find(name)
    known.set(name, isFound)
    return isFound
  }
}

const BROKEN_MAX = 50
const NAMES_SHOWN = 5

/** Adds findings for the publisher: examples that are no JSON, or use host nodes of the pack that it does not have. */
export const addBrokenExamples = (found: Inspection): Inspection => {
  const { examples = [], nodes, status, partial } = found.nodes
  const isWhole = status === 'success' && !partial
  const names = new Set(nodes.map(({ name }) => name))
  const broken = examples.flatMap(({ path, form, host_nodes: used }): ScannedFinding[] => {
    const gone = used.filter(({ name, own }) => isWhole && own === true && !names.has(name))
    const message = form === 'none' ? NO_JSON : gone.length > 0 ? sayGone(gone) : undefined
    return message === undefined
      ? []
      : [{ issue_type: 'broken-example', severity: 'info', file_path: path, message }]
  })
  if (broken.length === 0) return found
  const { findings, counts } = found.findings
  const listed = [...findings, ...broken.slice(0, BROKEN_MAX)]
  const all = { ...counts, info: counts.info + broken.length }
  return { ...found, findings: { ...found.findings, findings: listed, counts: all } }
}

const NO_JSON = 'An example workflow is no JSON. Save it from the host once more.'

const sayGone = (gone: HostNodes): string => {
  const shown = gone.slice(0, NAMES_SHOWN).map(({ name }) => JSON.stringify(name))
  return `An example workflow uses ${counted(gone.length, 'host node')} that this version of the pack does not have (${shown.join(', ')}). Save the example with this version, or keep the old names.`
}
