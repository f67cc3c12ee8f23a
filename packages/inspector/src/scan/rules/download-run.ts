import type { Expression } from '../../python/ast.ts'
import type { Hit } from '../hit.ts'
import { programOf } from '../source/commands.ts'
import { partsOf } from '../source/parts.ts'
import type { CallSite, SourceFile } from '../source/source-file.ts'
import { valueKey } from '../source/value-key.ts'
import { namesOf } from '../source/values.ts'
import { fetchesAndRuns } from './fetch-and-run.ts'
import { dottedNames } from '../../words.ts'
import { findArgument } from '../source/keywords.ts'
import { originsOf } from '../source/origins.ts'
import { findBindings } from '../source/find-bindings.ts'
import type { Scope } from '../source/scope.ts'

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

/** Keys of the paths to which a call writes what it, or an earlier one, has downloaded. */
const downloadedTo = (site: CallSite): string[] =>
  [...destinations(site), ...written(site), ...copied(site), ...fetched(site)].flatMap(
    (node) => valueKey(node, site.scope) ?? [],
  )

const destinations = (site: CallSite): Expression[] => {
  const place = site.names.map((name) => DOWNLOADERS.get(name)).find(Boolean)
  const node = place && findArgument(site, 1, place)
  return node ? [node] : []
}

/** Functions that download to their second argument, with its name. */
const DOWNLOADERS = new Map([
  ['urllib.request.urlretrieve', 'filename'],
  ['urllib.urlretrieve', 'filename'],
  ['wget.download', 'out'],
  ['gdown.download', 'output'],
  ['torch.hub.download_url_to_file', 'dst'],
])

/** They give the path to which they have downloaded. */
const isDownloadedPath = (name: string): boolean =>
  /^(?:urllib\.(?:request\.)?urlretrieve|wget\.download|gdown\.download)\(\)(?:\[\])*$/.test(name)

/** `open(p, 'wb').write(answer.content)`, `Path(p).write_bytes(…)`. */
const written = ({ call, scope }: CallSite): Expression[] => {
  const [content] = call.args
  if (call.func.kind !== 'Attribute' || !content || !/^write(_bytes|_text)?$/.test(call.func.attr))
    return []
  return originsOf(content, scope).has('network') ? [openedPath(call.func.value, scope)] : []
}

/** `shutil.copyfileobj(response, open(p, 'wb'))`. */
const copied = ({ call, scope, names }: CallSite): Expression[] => {
  const [from, to] = call.args
  return names.includes('shutil.copyfileobj') && from && to && originsOf(from, scope).has('network')
    ? [openedPath(to, scope)]
    : []
}

/** The path of a file that `open` opened; else the file itself, whose `name` is the path. */
const openedPath = (file: Expression, scope: Scope): Expression => {
  const direct = openArgument(file, scope)
  if (direct || file.kind !== 'Name') return direct ?? file
  const [binding] = findBindings(scope, file.id) ?? []
  return (binding?.kind === 'value' && openArgument(binding.value, binding.scope)) || file
}

const openArgument = (node: Expression, scope: Scope): Expression | undefined =>
  node.kind === 'Call' && namesOf(node.func, scope).includes('builtins.open')
    ? node.args[0]
    : undefined

/** `curl -o p …`, `wget -O p …`. */
const fetched = (site: CallSite): Expression[] =>
  site.commands.flatMap(({ words }) => {
    const isFetch = words[0]?.texts.some((text) => /(?:^|[/\\])(?:curl|wget)(?:\.exe)?$/.test(text))
    const option = words.findIndex(({ texts }) =>
      texts.some((text) => /^(-o|-O|--output)$/.test(text)),
    )
    const node = isFetch && option > 0 ? words[option + 1]?.node : undefined
    return node ? [node] : []
  })
