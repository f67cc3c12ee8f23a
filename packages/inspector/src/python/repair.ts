/** White space at the start of a line with a blank before a tab. */
const MIXED_INDENT = /^[ \t]* \t[ \t]*/gm
/** `\N{` without an end: the grammar looks for one to the end of the file, each time. No name has 100 letters. */
const ENDLESS_NAME = /\\N\{(?![^}\n]{1,100}\})/g

/** Lines of nothing but a backslash: for each the grammar looks through all that follow. */
const EMPTY_CONTINUATIONS = /(?:\\\n[ \t]*){50,1000}/g
/** The same for lines of comments; one with a quote, brace or backslash might belong to a string. */
const COMMENT_LINES = /(?:^[ \t]*#[^'"{}\\\n]*\n){50,1000}/gm

/**
 * Returns a text of the same length that the grammar reads instead: it is wrong about tabs, and takes quadratic time
 * for names without an end and long runs of comments or backslashes.
 */
export const prepare = (text: string): string => {
  const ordered = text.includes('\t') ? text.replace(MIXED_INDENT, orderIndent) : text
  const named = ordered.includes('\\N{') ? ordered.replace(ENDLESS_NAME, 'NNN') : ordered
  return named.replace(EMPTY_CONTINUATIONS, blank).replace(COMMENT_LINES, blankLines)
}

const blank = (text: string): string => '\f'.repeat(text.length)

const blankLines = (text: string): string => text.replace(/[^\n]/g, ' ')

/**
 * The same indentation without blanks before tabs. Python's tab goes on to the next multiple of 8, the grammar's adds 8;
 * so tabs go first, and form feeds, which set the column to 0, fill up.
 */
const orderIndent = (indent: string): string => {
  let column = 0
  for (const character of indent)
    column = character === '\t' ? column - (column % 8) + 8 : column + 1
  const ordered = '\t'.repeat(Math.floor(column / 8)) + ' '.repeat(column % 8)
  return ordered.padStart(indent.length, '\f')
}

/** `*` before a display, parenthesis or string, where no operand is before it. */
const STAR_OF_LITERAL =
  /((?:[=,([{:]|\b(?:return|yield|in))[ \t]*)\*(?=[ \t]*(?:[[({'"]|[a-zA-Z]{1,2}['"]))/g
/** `{name:=spec}` in an f-string. */
const EQUALS_SPEC = /(\{[^{}:='"\n]+:)=/g

/**
 * A text of the same length which the grammar reads where it is wrong about the first one, or undefined if there is none.
 * The builders look at the original: a plus that is a star there is one (`x = *[1], 2`), and a format specification
 * is taken from it (`f"{n:=+5}"`). Only for texts with errors: elsewhere it could do harm.
 */
export const repair = (text: string): string | undefined => {
  const repaired = simplifyBrackets(text)
    .replace(STAR_OF_LITERAL, '$1+')
    .replace(EQUALS_SPEC, '$1<')
  return repaired === text ? undefined : repaired
}

/** Before type parameters, which no builder reads. */
const GENERIC_HEADER = /(?:^|[;:])[ \t]*(?:async[ \t]+)?(?:class|def|type)[ \t]+\w+[ \t]*$/
const LONGEST_HEADER = 200

interface Scan {
  text: string
  pieces: string[]
  /** Up to here the text is in the pieces. */
  kept: number
  depth: number
  /** Opening bracket of the type parameters around the place. */
  generic: number
}

/**
 * Blanks for the line ends and comments within brackets, because after an operator or a dot the grammar takes a line that
 * is indented less than the statement for the end of the block; and `[T]` for type parameters, whose defaults it does
 * not know. No regular expression finds the strings: on a hostile text each quote without an end could cost a search to
 * the end of the file.
 */
const simplifyBrackets = (text: string): string => {
  const scan: Scan = { text, pieces: [], kept: 0, depth: 0, generic: -1 }
  for (let at = 0; at < text.length;) {
    const character = text.charAt(at)
    const end = endOfToken(text, at, character)
    if ('[({'.includes(character)) open(scan, at)
    else if ('])}'.includes(character)) close(scan, at)
    else if (scan.depth > 0 && scan.generic < 0 && '#\n\\'.includes(character)) {
      substitute(scan, at, end, ' ')
    }
    at = end
  }
  return scan.pieces.join('') + text.slice(scan.kept)
}

const open = (scan: Scan, at: number): void => {
  scan.depth += 1
  if (scan.depth > 1 || scan.text.charAt(at) !== '[') return
  const line = scan.text.slice(Math.max(0, at - LONGEST_HEADER), at)
  if (GENERIC_HEADER.test(line.slice(line.lastIndexOf('\n') + 1))) scan.generic = at
}

const close = (scan: Scan, at: number): void => {
  scan.depth = Math.max(0, scan.depth - 1)
  if (scan.depth > 0 || scan.generic < 0) return
  substitute(scan, scan.generic + 1, at, 'T')
  scan.generic = -1
}

/** The first character of the new text; blanks fill it up. */
const substitute = (scan: Scan, start: number, end: number, first: string): void => {
  scan.pieces.push(scan.text.slice(scan.kept, start), first.padEnd(end - start))
  scan.kept = end
}

const endOfToken = (text: string, at: number, character: string): number => {
  if (character === '"' || character === "'") return endOfString(text, at, character)
  if (character === '#') return orEnd(text, text.indexOf('\n', at))
  return character === '\\' && text.charAt(at + 1) === '\n' ? at + 2 : at + 1
}

/** After the closing quotes; else the end of the line, or of the text for triple quotes. */
const endOfString = (text: string, start: number, quote: string): number => {
  const triple = quote.repeat(3)
  const closing = text.startsWith(triple, start) ? triple : quote
  for (let at = start + closing.length; at < text.length; at += 1) {
    const character = text.charAt(at)
    if (character === '\\') at += 1
    else if (character === quote && text.startsWith(closing, at)) return at + closing.length
    else if (character === '\n' && closing === quote) return at
  }
  return text.length
}

const orEnd = (text: string, index: number): number => (index < 0 ? text.length : index)
