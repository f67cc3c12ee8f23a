import type { BinOp, Expression } from '../../python/ast.ts'
import type { Command, NamedCall, Word } from './source-file.ts'
import { findArgument, findKeyword, isTrue } from './keywords.ts'
import { HOLE } from './text.ts'
import { namesOf, textsOf } from './values.ts'
import { dottedNames } from '../../words.ts'
import { isList } from './parts.ts'
import { findBindings } from './find-bindings.ts'
import type { Binding, Scope } from './scope.ts'

/** The commands a call may start; none if it starts no process. */
export const commandsOf = (site: NamedCall): Command[] => {
  const starter = site.names.map((name) => STARTERS.get(name)).find(Boolean)
  if (!starter) return []
  if (starter === 'words')
    return [ofItems(site.call.args.map((node) => ({ node, scope: site.scope })))]
  const argument = findArgument(site, 0, 'args') ?? findKeyword(site, 'cmd')
  if (!argument) return []
  const shell = starter === 'shell' || isTrue(site, 'shell')
  return (
    listsOf(argument, site.scope)?.map((items) => ofItems(items, shell)) ??
    textsOf(argument, site.scope).map((line) => ofLine(line, argument, shell))
  )
}

/** Forms in which functions take their command: one list or string; a string for a shell; each word an argument. */
const STARTERS = new Map(
  Object.entries({
    command: dottedNames({
      subprocess: 'run call check_call check_output Popen',
      pty: 'spawn',
      pexpect: 'spawn run',
    }),
    shell: dottedNames({
      subprocess: 'getoutput getstatusoutput',
      commands: 'getoutput',
      os: 'system popen',
      asyncio: 'create_subprocess_shell',
      'asyncio.subprocess': 'create_subprocess_shell',
    }),
    words: dottedNames({
      os: `startfile execl execle execlp execlpe execv execve execvp execvpe posix_spawn
        posix_spawnp`,
      asyncio: 'create_subprocess_exec',
      'asyncio.subprocess': 'create_subprocess_exec',
    }),
  }).flatMap(([way, names]) => [...names].map((name) => [name, way] as const)),
)

const ofItems = (items: readonly Item[], shell = false): Command => {
  const [first] = items
  // Words are kept as long as their file, so that a list of thousands must not count as one question.
  if (first) first.scope.effort.steps -= items.length * WORD_STEPS
  const words = items.map(wordOf)
  return { words, shell, line: words.map(({ texts }) => texts[0] ?? HOLE).join(' ') }
}

const WORD_STEPS = 10

const wordOf = ({ node, scope }: Item): Word => ({
  texts: namesOf(node, scope).includes('sys.executable') ? ['python'] : textsOf(node, scope),
  node,
})

/** The words that start a program stand at the beginning. */
const MAX_WORDS = 64

/** A string as its words; quotes only keep blanks together. */
const ofLine = (line: string, node: Expression, shell: boolean): Command => {
  const words = (line.match(/"[^"]*"|'[^']*'|[^\s"']+/g) ?? []).slice(0, MAX_WORDS)
  const whole = words.length === 1 ? node : undefined
  return {
    words: words.map((word) => ({ texts: [word.replaceAll(/^["']|["']$/g, '')], node: whole })),
    shell,
    line,
  }
}

/** The program that a command starts, looking through interpreters and launchers: `python tool.py` starts `tool.py`. */
export const programOf = ({ words }: Command): Word | undefined => {
  let at = 0
  while (at < words.length - 1 && words[at]?.texts.some((text) => LAUNCHERS.test(text))) at += 1
  return words[at]
}

const LAUNCHERS =
  /^(?:(?:\S*[/\\])?(?:python[\d.]*|pythonw|py|sh|bash|zsh|cmd|powershell|pwsh|msiexec|start|nohup|sudo|env|wine|rundll32|regsvr32|cscript|wscript|mshta)(?:\.exe)?|-u|-B|-File|-WindowStyle|hidden|\/[cbiq]|\/qn)$/i

/** An item of a list, with the scope in which it is to be read. */
interface Item {
  node: Expression
  scope: Scope
}

/**
 * The lists that an expression may be, item by item: displays, sums of them, names that stand for them, one way for each
 * assignment of a name. Undefined for what is no list as far as can be seen.
 */
const listsOf = (node: Expression, scope: Scope): Item[][] | undefined =>
  listsWithin({ node, scope }, { steps: MAX_STEPS, depth: 0 })

/** Commands have some ten words. */
const MAX_STEPS = 500
const MAX_DEPTH = 12
const MAX_LISTS = 4
const MAX_ITEMS = 64

interface Search {
  steps: number
  depth: number
}

const listsWithin = ({ node, scope }: Item, search: Search): Item[][] | undefined => {
  search.steps -= 1
  if (search.steps < 0 || search.depth > MAX_DEPTH) return undefined
  search.depth += 1
  const lists = listsOfKind({ node, scope }, search)
  search.depth -= 1
  return lists
}

const listsOfKind = ({ node, scope }: Item, search: Search): Item[][] | undefined => {
  if (isList(node))
    return node.items
      .slice(0, MAX_ITEMS)
      .map((item) => listsOfItem({ node: item, scope }, search))
      .reduce(cross, [[]])
  if (node.kind === 'BinOp') return listsOfSum(node, scope, search)
  return node.kind === 'Name' ? listsOfName(findBindings(scope, node.id) ?? [], search) : undefined
}

const listsOfItem = ({ node, scope }: Item, search: Search): Item[][] =>
  (node.kind === 'Starred' ? listsWithin({ node: node.value, scope }, search) : undefined) ?? [
    [{ node, scope }],
  ]

/** Whatever is added to a list is one, of unknown items. */
const listsOfSum = (node: BinOp, scope: Scope, search: Search): Item[][] | undefined => {
  const terms = [node.left, ...node.rights.map(({ value }) => value)].slice(0, MAX_ITEMS)
  const lists = terms.map((term) => listsWithin({ node: term, scope }, search))
  if (!lists.some(Boolean)) return undefined
  return terms.map((term, at) => lists[at] ?? [[{ node: term, scope }]]).reduce(cross, [[]])
}

/** Every assignment gives a list of its own; what is added may follow each of them. */
const listsOfName = (bindings: readonly Binding[], search: Search): Item[][] | undefined => {
  const ofKind = (kind: 'value' | 'added'): Item[][] =>
    bindings.flatMap((binding) =>
      binding.kind === kind
        ? (listsWithin({ node: binding.value, scope: binding.scope }, search) ?? [])
        : [],
    )
  const assigned = ofKind('value')
  const added = ofKind('added').flat()
  return assigned.length > 0 ? cross(assigned, [added]) : undefined
}

/** Every list of `left` with every one of `right` behind it. */
const cross = (left: Item[][], right: Item[][]): Item[][] => {
  const made: Item[][] = []
  for (const start of left)
    for (const end of right)
      if (made.length < MAX_LISTS) made.push([...start, ...end].slice(0, MAX_ITEMS))
  return made
}
