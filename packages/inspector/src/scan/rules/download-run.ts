import type { Expression } from '../../python/ast.ts'
import type { Hit } from '../hit.ts'
import { programOf } from '../source/commands.ts'
import { partsOf } from '../source/parts.ts'
import type { CallSite, SourceFile } from '../source/source-file.ts'
import { valueKey } from '../source/value-key.ts'
import { namesOf } from '../source/values.ts'
import { downloadedTo, isDownloadedPath } from './downloads.ts'
import { fetchesAndRuns } from './fetch-and-run.ts'
import { dottedNames } from '../../words.ts'

/** download-run: what a call starts is the very path that another call downloaded to. */
export const findDownloadRuns = (file: SourceFile): Hit[] => {
  const downloaded = new Set(file.calls.flatMap(downloadedTo))
  return file.calls
    .filter((site) => isRun(site, downloaded))
    .map(({ call }) => ({ rule: 'download-run', path: file.path, line: call.line }))
}

const isRun = (site: CallSite, downloaded: ReadonlySet<string>): boolean =>
  startedBy(site).some((node) => {
    const key = valueKey(node, site.scope)
    return (
      (key !== undefined && downloaded.has(key)) || namesOf(node, site.scope).some(isDownloadedPath)
    )
  }) || site.commands.some(({ line, shell }) => shell && fetchesAndRuns(line))

/** Expressions that a call starts, runs or loads as a program. */
const startedBy = (site: CallSite): Expression[] => {
  const [first, second] = site.call.args
  const { commands } = site
  if (commands.length > 0)
    return [
      ...commands.flatMap((command) => programOf(command)?.node ?? []),
      ...(first ? commandHeads(first) : []),
    ]
  if (site.names.some((name) => RUNNERS.has(name)) && first) return [first]
  if (site.names.includes('importlib.util.spec_from_file_location') && second) return [second]
  if (site.names.includes('builtins.exec') && first) return openedIn(first, site)
  return []
}

const RUNNERS = dottedNames({
  runpy: 'run_path',
  builtins: 'execfile',
  ctypes: 'CDLL WinDLL',
  'ctypes.cdll': 'LoadLibrary',
})

/** Expressions looked at within one argument. */
const MAX_SEEN = 500

/** Paths of the files that an expression opens. */
const openedIn = (code: Expression, { scope }: CallSite): Expression[] => {
  const todo = [code]
  const found: Expression[] = []
  let seen = 0
  for (let next = todo.pop(); next && seen < MAX_SEEN; next = todo.pop()) {
    seen += 1
    todo.push(...partsOf(next))
    if (next.kind !== 'Call') continue
    if (next.args[0] && namesOf(next.func, scope).includes('builtins.open'))
      found.push(next.args[0])
    else if (next.func.kind === 'Attribute' && /^read_(text|bytes)$/.test(next.func.attr))
      found.push(next.func.value)
  }
  return found
}

/** Values that stand where a command line has its program: `p` of `f"{p} --quiet"`, `"start " + p`, `f"cd x && {p}"`. */
const commandHeads = (argument: Expression): Expression[] => {
  let before = ''
  return partsOfLine(argument).flatMap((part) => {
    const isHead = typeof part !== 'string' && BEFORE_PROGRAM.test(before)
    before = typeof part === 'string' ? (before + part).slice(-200) : `${before}x`
    return isHead ? [part] : []
  })
}

const BEFORE_PROGRAM =
  /(?:^|&&|[;|&\n])\s*(?:(?:start|sh|bash|python[\d.]*|nohup|sudo|cmd(?:\.exe)?\s+\/c)\s+)*(?:""\s+)?["']?(?:\.[\\/])?$/

const partsOfLine = (node: Expression): (string | Expression)[] => {
  if (node.kind === 'Constant') return [typeof node.value === 'string' ? node.value : node]
  if (node.kind === 'JoinedStr')
    return node.values.map((value) => (typeof value === 'string' ? value : value.value))
  if (node.kind === 'BinOp')
    return [node.left, ...node.rights.map(({ value }) => value)].flatMap((part) =>
      part.kind === 'BinOp' ? [part] : partsOfLine(part),
    )
  return [node]
}
