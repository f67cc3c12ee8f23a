import { shown } from '../domain/errors.ts'
import { toPointer } from '../domain/pointer.ts'
import { ownCopy, type TextSink } from './text.ts'
import type { Token } from './tokens.ts'
import { makeTree, rejected, type TreeLimits } from './tree.ts'

export interface AssemblerOptions extends TreeLimits {
  /** Called with the bytes of text and the members that have come to stay in memory. Throws when that is too much. */
  hold: Hold
  /** Gives the sink of a string that is not kept in memory, chosen by its place. */
  openImage: (depth: number, path: () => string[]) => TextSink | undefined
}

export type Hold = (textBytes: number, members: number) => void

/** Builds a value from tokens and rejects what JSON.parse would let pass. */
export interface Assembler {
  take: (token: Token) => void
  /** Passes on and accounts for the text gathered so far; call after each piece of the body. */
  flush: () => void
  /** The place being read, as a JSON Pointer; empty for the root. */
  pointer: () => string
  /** True once any token came. */
  started: () => boolean
  /** Undefined until the root value has ended. */
  found: () => { value: unknown } | undefined
}

/**
 * A body may have a million members, so only the value of a member is allocated: closures for keys and numbers made it
 * 3 times slower.
 *
 * @throws 400 `json_invalid` for NUL, a lone surrogate, an infinite number, and all that the tree rejects.
 */
export const makeAssembler = (options: AssemblerOptions): Assembler => {
  const tree = makeTree(options)
  let started = false
  let textBytes = 0
  let countedMembers = 0
  let inNumber = false
  let image: TextSink | undefined
  let text = ''
  // A string written with escapes comes character by character: joining them in one go keeps the heap from filling
  // with a million ropes of two.
  let pieces: string[] = []

  const gather = () => {
    const piece = pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('')
    pieces = []
    const character = REJECTED_CHARACTER.exec(piece)?.[0]
    if (character !== undefined) throw rejected(`a string holds ${shown(character)}`, tree.path())
    if (image !== undefined) return image.write(piece)
    textBytes += Buffer.byteLength(piece)
    text += ownCopy(piece)
    if (inNumber && text.length > LONGEST_NUMBER)
      throw rejected(`a number has more than ${LONGEST_NUMBER} characters`, tree.path())
  }

  const flush = () => {
    if (pieces.length > 0) gather()
    options.hold(textBytes, tree.members() - countedMembers)
    textBytes = 0
    countedMembers = tree.members()
  }

  const takeText = (): string => {
    if (pieces.length > 0) gather()
    const taken = text
    text = ''
    return taken
  }

  const endString = (): unknown => {
    const taken = takeText()
    if (image === undefined) return taken
    const value = image.end()
    image = undefined
    return value
  }

  const endNumber = (): number => {
    const digits = takeText()
    inNumber = false
    const value = Number(digits)
    if (Number.isFinite(value)) return value
    throw rejected(`the number ${shown(digits)} is too large`, tree.path())
  }

  const take = (token: Token): void => {
    switch (token.name) {
      case 'startObject':
        return tree.openObject()
      case 'startArray':
        return tree.openArray()
      case 'endObject':
      case 'endArray':
        return tree.close()
      case 'endKey':
        return tree.setKey(takeText())
      case 'startString':
        tree.count()
        image = options.openImage(tree.depth(), tree.path)
        return
      case 'endString':
        return tree.put(endString())
      case 'startNumber':
        inNumber = true
        return tree.count()
      case 'endNumber':
        return tree.put(endNumber())
      case 'stringChunk':
      case 'numberChunk':
        pieces.push(token.value)
        return
      case 'nullValue':
      case 'trueValue':
      case 'falseValue':
        tree.count()
        return tree.put(token.value)
      default:
    }
  }

  return {
    take: (token) => {
      started = true
      take(token)
    },
    flush,
    pointer: () => toPointer(tree.path()),
    started: () => started,
    found: tree.found,
  }
}

// Exact doubles have up to 767 significant digits. Converting 15 million digits blocks for 40 ms.
const LONGEST_NUMBER = 1000

// PostgreSQL text rejects NUL; with the u flag a surrogate matches only when it is alone. The tokenizer never cuts a
// pair.
const REJECTED_CHARACTER = /[\0\p{Cs}]/u
