import type { Expression } from '../../python/ast.ts'
import type { Command, NamedCall, Word } from './call-site.ts'
import { listsOf } from './command-items.ts'
import type { Item } from './command-items.ts'
import { findArgument, findKeyword, isTrue } from './keywords.ts'
import { HOLE } from './text.ts'
import { namesOf, textsOf } from './values.ts'
import { dottedNames } from '../../words.ts'

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
