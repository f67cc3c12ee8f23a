import { apiError, shown } from '../domain/errors.ts'
import { toPointer } from '../domain/pointer.ts'
import { isLonger } from '../domain/text-length.ts'

export interface TreeLimits {
  /** Objects and arrays inside each other, the outermost counted. */
  maxDepth: number
  /** Members of objects and items of arrays, all together. */
  maxMembers: number
  /** Characters (code points) of a key. */
  maxKeyLength: number
}

/** A JSON value that grows. Every value is counted when it begins and put when it is complete. */
export interface Tree {
  openObject: () => void
  openArray: () => void
  /** Ends the innermost object or array and puts it. */
  close: () => void
  setKey: (key: string) => void
  count: () => void
  put: (value: unknown) => void
  depth: () => number
  /** Members and items so far. */
  members: () => number
  /** Keys and indexes from the root to the value being read; between two members it ends at their object. */
  path: () => string[]
  /** Undefined until the root value has ended. */
  found: () => { value: unknown } | undefined
}

type Frame =
  | { kind: 'object'; value: Record<string, unknown>; key: string | undefined }
  | { kind: 'array'; value: unknown[] }

/**
 * @throws 400 `json_invalid` for a repeated key, `__proto__`, a key too long or too many members; 400 `json_too_deep`.
 */
export const makeTree = (limits: TreeLimits): Tree => {
  const frames: Frame[] = []
  let found: { value: unknown } | undefined
  let members = 0

  const path = () => frames.flatMap(stepInto)

  const count = () => {
    if (frames.length === 0) return
    members += 1
    if (members > limits.maxMembers)
      throw rejected(`it has more than ${limits.maxMembers} members`, path())
  }

  const open = (frame: Frame) => {
    count()
    if (frames.length >= limits.maxDepth)
      throw apiError('json_too_deep', `The body nests deeper than ${limits.maxDepth} levels.`)
    frames.push(frame)
  }

  const put = (value: unknown) => {
    const frame = frames.at(-1)
    if (frame === undefined) found = { value }
    else if (frame.kind === 'array') frame.value.push(value)
    else if (frame.key !== undefined) {
      frame.value[frame.key] = value
      frame.key = undefined
    }
  }

  return {
    openObject: () => open({ kind: 'object', value: {}, key: undefined }),
    openArray: () => open({ kind: 'array', value: [] }),
    close: () => put(frames.pop()?.value),
    setKey: (key) => {
      const frame = frames.at(-1)
      if (frame?.kind !== 'object') throw new Error('A key came outside of an object.')
      if (isLonger(key, limits.maxKeyLength))
        throw rejected(`a key is longer than ${limits.maxKeyLength} characters`, path())
      if (key === '__proto__') throw rejected('the key "__proto__" is not allowed', path())
      if (Object.hasOwn(frame.value, key))
        throw rejected(`the key ${shown(key)} is repeated`, path())
      frame.key = key
    },
    count,
    put,
    depth: () => frames.length,
    members: () => members,
    path,
    found: () => found,
  }
}

/** Well-formed JSON that this service does not take; `what` reads after a colon. */
export const rejected = (what: string, path: readonly string[]) => {
  const place = path.length === 0 ? '' : ` at ${shown(toPointer(path))}`
  return apiError('json_invalid', `The body is not accepted as JSON: ${what}${place}.`)
}

/** Nothing between two members of an object; in an array the item to come. */
const stepInto = (frame: Frame): string | string[] =>
  frame.kind === 'array' ? `${frame.value.length}` : (frame.key ?? [])
