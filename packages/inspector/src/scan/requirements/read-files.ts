import type { Pack } from '../../pack.ts'

/** A line that requires something, and where it stands. */
export interface RequirementLine {
  text: string
  path?: string
  line?: number
}

/** Requirements of `requirements*.txt`, of `[project] dependencies` in the pack's pyproject.toml, and of the version. */
export const readRequirementLines = (
  pack: Pack,
  dependencies: readonly string[],
): RequirementLine[] => [
  ...pack.entries
    .filter(({ path }) => REQUIREMENTS.test(path))
    .flatMap((entry) => linesOf(entry.path, entry.text)),
  ...projectDependencies(`${pack.root}pyproject.toml`, pack.files.get('pyproject.toml')),
  ...dependencies.map((text) => ({ text })),
]

const REQUIREMENTS = /(?:^|\/)requirements[^/]*\.txt$/i

const decode = (bytes: Uint8Array | undefined): string[] =>
  bytes
    ? new TextDecoder()
        .decode(bytes)
        .split(/\r\n?|\n/)
        .map((line) => (line.length > MAX_LINE ? '' : line))
    : []

/** A longer line requires nothing. */
const MAX_LINE = 10_000

const linesOf = (path: string, bytes: Uint8Array | undefined): RequirementLine[] =>
  decode(bytes).map((text, at) => ({ text, path, line: at + 1 }))

/**
 * Strings of the array `dependencies` below `[project]`, line by line, so that a file that is broken elsewhere still has
 * them.
 */
const projectDependencies = (path: string, bytes: Uint8Array | undefined): RequirementLine[] => {
  const found: RequirementLine[] = []
  let table = ''
  let isInside = false
  for (const [at, line] of decode(bytes).entries()) {
    if (!isInside) {
      table = /^\s*\[([^\]"']+)\]\s*(?:#.*)?$/.exec(line)?.[1]?.trim() ?? table
      isInside = table === 'project' && /^\s*dependencies\s*=\s*\[/.test(line)
      if (!isInside) continue
    }
    const { texts, ends } = stringsOf(line.replace(/^\s*dependencies\s*=\s*\[/, ''))
    found.push(...texts.map((text) => ({ text, path, line: at + 1 })))
    if (ends) isInside = false
  }
  return found
}

/** Strings of one line of an array, up to its end or a comment. */
const stringsOf = (line: string): { texts: string[]; ends: boolean } => {
  const texts: string[] = []
  for (const [token, double, single] of line.matchAll(/"((?:[^"\\]|\\.)*)"|'([^']*)'|[#\]]/g)) {
    if (token === '#') return { texts, ends: false }
    if (token === ']') return { texts, ends: true }
    texts.push((double ?? single ?? '').replaceAll(/\\(["\\])/g, '$1'))
  }
  return { texts, ends: false }
}
