import { isObject } from '../../../platform/domain/is-object.ts'

/** Follows what stands for a schema: a reference into the document, the one of `allOf`, and the one beside null. */
export type Resolve = (given: unknown) => Record<string, unknown>

/** Form of an output, by its schema; `any` where that does not say. */
export type Shape =
  | { is: 'file' | 'text' | 'any' }
  /** `isText`: its items are parts of one text. */
  | { is: 'list'; items: Shape; isText: boolean }
  | { is: 'object'; members: Readonly<Record<string, Shape>> }

/** A file or a text that a prediction has made. */
export type EngineOutput = { name?: string } & ({ url: string } | { text: string })

const MAX_DEPTH = 4
const MAX_OUTPUTS = 100
const NAME = /^(?!(result|thumbnail)$)[a-z0-9_]{1,60}$/

/** Reads the shape of an output from its schema. */
export const readShape = (given: unknown, resolve: Resolve, depth = 0): Shape => {
  const schema = resolve(given)
  const { type, format, items, properties } = schema
  if (depth >= MAX_DEPTH) return { is: 'any' }
  if (type === 'string') return { is: format === 'uri' ? 'file' : 'text' }
  if (type === 'array') {
    const isText = schema['x-cog-array-display'] === 'concatenate'
    return { is: 'list', items: readShape(items, resolve, depth + 1), isText }
  }
  if (type !== 'object' || !isObject(properties)) return { is: 'any' }
  const members = Object.entries(properties).map(([name, member]): [string, Shape] => [
    name,
    readShape(member, resolve, depth + 1),
  ])
  return { is: 'object', members: Object.fromEntries(members) }
}

/** Lists the files and texts of an output, in its order. What is neither is a text of JSON. */
export const listOutputs = (output: unknown, shape: Shape): EngineOutput[] => {
  const listed = list(output, shape).slice(0, MAX_OUTPUTS)
  const names = new Set<string>()
  return listed.map(({ name, ...made }) => {
    if (name === undefined || !NAME.test(name) || names.has(name)) return made
    names.add(name)
    return { name, ...made }
  })
}

const list = (output: unknown, shape: Shape): EngineOutput[] => {
  if (output === null || output === undefined) return []
  if (Array.isArray(output)) {
    const made = (output as unknown[]).flatMap((item) =>
      list(item, shape.is === 'list' ? shape.items : ANY),
    )
    const isText = shape.is === 'list' && shape.isText
    return isText ? [{ text: made.map((one) => ('text' in one ? one.text : '')).join('') }] : made
  }
  if (isObject(output) && shape.is === 'object')
    return Object.entries(output).flatMap(([name, member]) =>
      list(member, shape.members[name] ?? ANY).map((made) => ({ name, ...made })),
    )
  if (typeof output !== 'string') return [{ text: JSON.stringify(output) }]
  const isFile = shape.is === 'file' || (shape.is === 'any' && output.startsWith('data:'))
  return [isFile ? { url: output } : { text: output }]
}

const ANY: Shape = { is: 'any' }
