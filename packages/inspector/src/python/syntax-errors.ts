import type { Statement } from './ast.ts'
import { type Frame, lineHere, type Walk } from './walk-state.ts'

/** The first place at which CPython gives up compiling a file: it cannot be imported. */
export interface PythonSyntaxError {
  line: number
  message: string
}

/** Surroundings of a node, as far as they decide what may be there. In an `open` scope they do not. */
export interface Around {
  scope: 'module' | 'class' | 'function' | 'async' | 'open'
  functions: number
  isLoop: boolean
  /** Loops, `try` and `with` within the function. */
  statics: number
}

export const MODULE: Around = { scope: 'module', functions: 0, isLoop: false, statics: 0 }

const FUNCTION = { isLoop: false, statics: 0 }

/** Limits of CPython; that of its blocks is 20 before 3.13. */
const MAX_BRACKETS = 200
const MAX_STATICS = 21
const MAX_INDENTS = 100

/** Remembers the error that is first in the text. */
export const noteError = (walk: Walk, message: string, line = lineHere(walk)): void => {
  if (!walk.syntaxError || line < walk.syntaxError.line) walk.syntaxError = { line, message }
}

/** Finds the surroundings of the children of a block, a comprehension or a lambda. */
export const aroundIn = (walk: Walk, { type, above }: Frame, around: Around): Around => {
  const { functions, statics } = around
  if (type.name !== 'block') return { scope: 'open', functions: functions + 1, ...FUNCTION }
  const isAsync = walk.children.names[above?.base ?? 0] === 'async'
  switch (above?.type.name) {
    case 'function_definition':
      return { scope: isAsync ? 'async' : 'function', functions: functions + 1, ...FUNCTION }
    case 'class_definition':
      return { scope: 'class', functions, ...FUNCTION }
    case 'for_statement':
    case 'while_statement':
    case 'with_statement':
    case 'try_statement': {
      if (isAsync && around.scope !== 'async' && around.scope !== 'open')
        noteError(walk, `'async ${above.type.name.slice(0, -10)}' outside async function`)
      if (statics >= MAX_STATICS) noteError(walk, 'too many statically nested blocks')
      const isLoop = around.isLoop || /^(for|while)/.test(above.type.name)
      return { ...around, isLoop, statics: statics + 1 }
    }
    default:
      return around
  }
}

/** Checks the depth of a block or bracket that was opened. */
export const checkDepth = (walk: Walk, frame: Frame): void => {
  if (frame.brackets > MAX_BRACKETS) noteError(walk, 'too many nested parentheses')
  if (walk.blocks <= MAX_INDENTS || frame.type.name !== 'block') return
  // Those of an `elif` are no deeper.
  let indents = 0
  for (let at: Frame | undefined = frame; at; at = at.above)
    if (at.type.name === 'block') indents += 1
  if (indents > MAX_INDENTS) noteError(walk, 'too many levels of indentation')
}

/**
 * Checks the place of a statement that begins a line. A tab is up to 8 columns for the grammar, and here 1: by both the
 * statements of a list stand alike, and deeper than those around.
 */
export const checkIndent = (walk: Walk, isRight: (column: number) => boolean): void => {
  const { text, cursor } = walk
  const start = walk.lines.startOf(lineHere(walk))
  const indent = text.slice(start, cursor.startIndex)
  if (walk.syntaxError || isRight(indent.length) || !/^[ \t]*$/.test(indent)) return
  // A line that goes on, and a form feed, which sets the column to 0.
  if (text[start - 2] === '\\' || text.includes('\f')) return
  noteError(
    walk,
    indent.includes('\t') ? 'inconsistent use of tabs and spaces' : 'unexpected indent',
  )
}

export type Check = (walk: Walk, around: Around) => string | false

const textHere = ({ text, cursor }: Walk): string => text.slice(cursor.startIndex, cursor.endIndex)

/** Escapes; those that end too early, as in a path of Windows, are the group. */
const ESCAPES =
  /\\(?:(x(?![\da-fA-F]{2})|u(?![\da-fA-F]{4})|U(?!00(?:0[\da-fA-F]|10)[\da-fA-F]{4}))|[^])/g

/** Raw strings, bytes and those with fields have other rules. */
const hasCutEscape = (literal: string): boolean => {
  if (!/^[uU]?['"]/.test(literal) || !literal.includes('\\')) return false
  for (const [, cut] of literal.matchAll(ESCAPES)) if (cut) return true
  return false
}

/** Checks for what CPython rejects although the grammar reads it, by the type of the node. */
export const CHECKS: Readonly<Record<string, Check>> = {
  return_statement: (_, { scope }) => /^[mc]/.test(scope) && "'return' outside function",
  yield: (_, { scope }) => /^[mc]/.test(scope) && "'yield' outside function",
  await: (_, { scope }) => /^[mcf]/.test(scope) && "'await' outside async function",
  break_statement: (_, { isLoop }) => !isLoop && "'break' outside loop",
  continue_statement: (_, { isLoop }) => !isLoop && "'continue' not properly in loop",
  nonlocal_statement: (walk, { scope, functions }) =>
    functions < (scope === 'class' ? 1 : 2) &&
    !textHere(walk).includes('__class__') &&
    'no binding for a nonlocal name',
  wildcard_import: (_, { scope }) => scope !== 'module' && 'import * only allowed at module level',
  future_import_statement: ({ children, frame }) => {
    const before = children.values[children.size - 1] as Statement | undefined
    if (children.size === frame.base || before?.kind === 'Expr') return false
    const isOther = before?.kind !== 'ImportFrom' || before.module !== '__future__'
    return isOther && 'from __future__ imports must occur at the beginning of the file'
  },
  exec_statement: () => "missing parentheses in call to 'exec'",
  '<>': () => 'invalid syntax',
  integer: (walk) => /^0[0-9_]*[1-9]|[lL]$/.test(textHere(walk)) && 'invalid decimal literal',
  string: (walk) => {
    const literal = textHere(walk)
    if (hasCutEscape(literal)) return '(unicode error) truncated escape'
    const isWide = /^[rR]?[bB]/.test(literal) && /[^\0-\x7f]/.test(literal)
    return isWide && 'bytes can only contain ASCII literal characters'
  },
}
