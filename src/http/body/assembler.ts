import { apiError, shown } from '../../domain/errors.ts'
import type { TextSink } from './text.ts'
import type { Token } from './tokens.ts'

export interface AssemblerOptions {
  /** Objects and arrays inside each other, the outermost counted. */
  maxDepth: number
  /** Members of objects and items of arrays, all together. */
  maxMembers: number
  /** Characters (code points) of a key. */
  maxKeyLength: number
  /** Is told of every byte of text that stays in memory; throws when that is too much. */
  hold: (bytes: number) => void
  /** Chooses what becomes of a string that begins at this place (keys and indexes from the root). */
  openText: (path: readonly string[]) => TextSink
}

/** Builds a value from tokens and refuses what JSON.parse would let pass. */
export interface Assembler {
  take: (token: Token) => void
  /** Passes the text gathered so far on; call after each piece of the body. */
  settle: () => void
  /** The place being read, as a JSON Pointer; empty for the root. */
  pointer: () => string
  /** Whether any token came. */
  started: () => boolean
  /** Undefined until the root value has ended. */
  found: () => { value: unknown } | undefined
}

type Frame =
  | { kind: 'object'; value: Record<string, unknown>; key: string | undefined }
  | { kind: 'array'; value: unknown[] }

/**
 * @throws 400 `json_invalid` for a repeated key, `__proto__`, NUL, a lone surrogate, an infinite number, too many
 * members, a key too long; 400 `json_too_deep`.
 */
export const makeAssembler = (options: AssemblerOptions): Assembler => {
  const frames: Frame[] = []
  let found: { value: unknown } | undefined
  let started = false
  let members = 0
  let text: TextSink | undefined
  // A string written with escapes comes character by character: joining them in one go keeps the heap from filling
  // with a million ropes of two.
  let pieces: string[] = []

  const path = () => frames.flatMap(stepInto)
  const invalid = (what: string) =>
    apiError('json_invalid', `The body is not accepted as JSON: ${what}${place(path())}.`)

  const put = (value: unknown) => {
    const frame = frames.at(-1)
    if (frame === undefined) found = { value }
    else if (frame.kind === 'array') frame.value.push(value)
    else if (frame.key !== undefined) {
      frame.value[frame.key] = value
      frame.key = undefined
    }
  }

  const countMember = () => {
    if (frames.length === 0) return
    members += 1
    if (members > options.maxMembers)
      throw invalid(`it has more than ${options.maxMembers} members`)
  }

  const push = (frame: Frame) => {
    countMember()
    if (frames.length >= options.maxDepth) {
      throw apiError('json_too_deep', `The body nests deeper than ${options.maxDepth} levels.`)
    }
    frames.push(frame)
  }

  const pop = () => {
    const frame = frames.pop()
    put(frame?.value)
  }

  const takeText = (): string => {
    const piece = pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('')
    pieces = []
    const refused = REFUSED_CHARACTER.exec(piece)
    if (refused !== null) throw invalid(`a string holds ${shown(refused[0])}`)
    return piece
  }

  const settle = () => {
    if (pieces.length === 0) return
    const piece = takeText()
    if (text === undefined) throw new Error('Text came outside of a string.')
    text.write(piece)
  }

  const endText = () => {
    settle()
    const value = text?.end()
    text = undefined
    return value
  }

  const setKey = (key: string) => {
    const frame = frames.at(-1)
    if (frame?.kind !== 'object') throw new Error('A key came outside of an object.')
    if (key === '__proto__') throw invalid('the key "__proto__" is refused')
    if (Object.hasOwn(frame.value, key)) throw invalid(`the key ${shown(key)} is repeated`)
    frame.key = key
  }

  const openKey = (): TextSink => {
    let key = ''
    const check = () => {
      if (key.length > options.maxKeyLength && [...key].length > options.maxKeyLength) {
        throw invalid(`a key is longer than ${options.maxKeyLength} characters`)
      }
    }
    return {
      write: (piece) => {
        options.hold(Buffer.byteLength(piece))
        key += piece
        check()
      },
      end: () => setKey(key),
    }
  }

  const openNumber = (): TextSink => {
    let digits = ''
    return {
      write: (piece) => {
        options.hold(piece.length)
        digits += piece
      },
      end: () => {
        const value = Number(digits)
        if (!Number.isFinite(value)) throw invalid(`the number ${shown(digits)} is too large`)
        return value
      },
    }
  }

  return {
    settle,
    pointer: () => toPointer(path()),
    started: () => started,
    found: () => found,
    take: (token) => {
      started = true
      switch (token.name) {
        case 'startObject':
          return push({ kind: 'object', value: {}, key: undefined })
        case 'startArray':
          return push({ kind: 'array', value: [] })
        case 'endObject':
        case 'endArray':
          return pop()
        case 'startKey':
          text = openKey()
          return
        case 'endKey':
          return void endText()
        case 'startString':
          countMember()
          text = options.openText(path())
          return
        case 'startNumber':
          countMember()
          text = openNumber()
          return
        case 'endString':
        case 'endNumber':
          return put(endText())
        case 'stringChunk':
        case 'numberChunk':
          return void pieces.push(token.value)
        case 'nullValue':
        case 'trueValue':
        case 'falseValue':
          countMember()
          return put(token.value)
        default:
          throw new Error(`The token ${token.name} was not asked for.`)
      }
    },
  }
}

// PostgreSQL text refuses NUL; with the u flag a surrogate matches only when it is alone. A pair never spans two pieces.
const REFUSED_CHARACTER = /[\0\p{Cs}]/u

/** Nothing between two members of an object; in an array the item to come. */
const stepInto = (frame: Frame): string | string[] =>
  frame.kind === 'array' ? `${frame.value.length}` : (frame.key ?? [])

const toPointer = (path: readonly string[]): string =>
  path.map((step) => `/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

const place = (path: readonly string[]): string => {
  const pointer = toPointer(path)
  return pointer === '' ? '' : ` at ${shown(pointer)}`
}
