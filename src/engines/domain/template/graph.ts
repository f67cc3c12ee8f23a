import { isObject } from '../../../platform/domain/is-object.ts'

/** A node of a workflow in ComfyUI's API format. A link to another node is an array. */
export interface GraphNode {
  class_type: string
  inputs: Record<string, unknown>
  title: string
}

/** The nodes of a workflow by their ids. */
export type Graph = Readonly<Record<string, GraphNode>>

/** Input in which a graph names the files that it writes. */
export const PREFIX = 'filename_prefix'

/** A whole number of a file that JavaScript would round. */
const UNSAFE = 'kiln:unsafe'

/** A literal as it stands in the file, when JavaScript would round it. */
export const unsafeOf = (value: unknown): string | undefined =>
  isObject(value) ? (value[UNSAFE] as string | undefined) : undefined

const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/**
 * Reads the JSON of a file that people write.
 * @throws Error that names the line of a comment, where there is one, else line and column of what is wrong
 */
export const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (error) {
    const comment = [...text.matchAll(/"(?:[^"\\]|\\.)*"|\/[/*]|#/g)].find(
      ([one]) => !one.startsWith('"'),
    )
    const before = text.slice(0, comment?.index ?? findFlaw(text)).split('\n')
    if (comment)
      throw new Error(`line ${before.length} has a comment, which JSON has not: take it out`, {
        cause: error,
      })
    const column = (before.at(-1)?.length ?? 0) + 1
    const what = before.join('\n').length < text.length ? 'cannot be read' : 'ends too early'
    throw new Error(`is not JSON: line ${before.length}, column ${column} ${what}`, {
      cause: error,
    })
  }
}

/** Finds where a text stops being the beginning of JSON, by halves: not every message of the parser has the place. */
const findFlaw = (text: string): number => {
  let [low, high] = [0, text.length]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (isBeginning(text.slice(0, middle))) low = middle
    else high = middle - 1
  }
  return low
}

/** True of JSON that ends too early, or does not. */
const isBeginning = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const { message } = error as Error
    const [, position] = /position (\d+)/.exec(message) ?? []
    return /end of JSON input|Unterminated string/.test(message) || Number(position) >= text.length
  }
}

/** Reads JSON with every whole number above 2^53 as an object that `unsafeOf` reads: seeds have 64 bits. */
const parse = (text: string): unknown => {
  // What is wrong has its place in the text as it is.
  parseJson(text)
  return JSON.parse(
    text.replaceAll(TOKENS, (token) =>
      /^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))
        ? JSON.stringify({ [UNSAFE]: token })
        : token,
    ),
  )
}

const EXPORT = 'export it once more by Workflow > Export (API)'

/**
 * Reads the nodes of an exported workflow.
 * @throws Error that says what to do, without the name of the file
 */
export const readGraph = (text: string): Graph => {
  const value = parse(text)
  if (!isObject(value) || Object.keys(value).length === 0)
    throw new Error(`holds no nodes: ${EXPORT}`)
  if (Array.isArray(value['nodes'])) throw new Error(`is saved for the editor: ${EXPORT}`)
  return Object.fromEntries(
    Object.entries(value).map(([id, node]) => {
      if (!isObject(node)) throw new Error(`${JSON.stringify(id)} is no node: take it out`)
      if (typeof node['class_type'] !== 'string' || !isObject(node['inputs']))
        throw new Error(`node ${id} has no class_type and inputs: ${EXPORT}`)
      const { class_type, inputs, _meta: meta } = node
      const title = isObject(meta) && typeof meta['title'] === 'string' ? meta['title'] : class_type
      return [id, { class_type, inputs, title }]
    }),
  )
}

/** True of a value that stands in the graph, and is not the link to another node. */
export const isLiteral = (value: unknown): boolean => value !== undefined && !Array.isArray(value)

/** Names a node in a message. */
export const describeNode = (id: string, { title }: GraphNode): string => `node ${id} "${title}"`
