import type { Expression } from '../../python/ast.ts'
import { isList } from '../source/parts.ts'
import type { Origin } from '../source/origin-names.ts'
import { findArgument } from '../source/keywords.ts'
import { originsOf } from '../source/origins.ts'
import type { CallSite, Command } from '../source/source-file.ts'
import { eachCall, type Found } from '../hit.ts'
import { textsOf } from '../source/values.ts'
import { dottedNames } from '../../words.ts'

/** exec-decoded, exec-network, dynamic-code: what runs as code, the gravest that fits each call. */
export const findDynamicCode = eachCall((site) => scanRunner(site) ?? scanCommand(site))

const scanRunner = (site: CallSite): Found | undefined => {
  const runner = site.names.find((name) => RUNNERS.has(name))
  const code = runner && findArgument(site, 0, 'source')
  if (runner === undefined || !code) return undefined
  const origins = originsOf(code, site.scope)
  const detail = runner.replace('builtins.', '')
  if (origins.has('decoded') || hasHiddenCode(code, site)) return { rule: 'exec-decoded', detail }
  if (isFromNetwork(runner, origins)) return { rule: 'exec-network', detail }
  // Alone it runs nothing.
  return runner === 'builtins.compile' ? undefined : { rule: 'dynamic-code', detail }
}

const RUNNERS = dottedNames({
  builtins: 'exec eval execfile compile',
  'code.InteractiveInterpreter()': 'runcode runsource',
  'code.InteractiveConsole()': 'push',
})

/** JSON of a response that goes to eval is mostly a list somebody didn't parse; to exec it is code. */
const isFromNetwork = (runner: string, origins: ReadonlySet<Origin>): boolean =>
  origins.has('network') || (runner === 'builtins.exec' && origins.has('response'))

/** A constant program that decodes another one and runs it. */
const hasHiddenCode = (code: Expression, site: CallSite): boolean =>
  textsOf(code, site.scope).some((text) => DECODES_AND_RUNS.test(text))

const DECODES_AND_RUNS =
  /\b(?:exec|eval)\s*\([^)]{0,200}(?:b64decode|b32decode|b85decode|a85decode|decompress|fromhex|unhexlify|marshal\s*\.\s*loads|rot_?13)/

/** `python -c` with such a program, PowerShell with an encoded one, or a command that was decoded itself. */
const scanCommand = (site: CallSite): Found | undefined => {
  const { commands } = site
  const argument = site.call.args[0]
  if (commands.length === 0 || !argument) return undefined
  const isHidden =
    commands.some(({ line }) => DECODES_AND_RUNS.test(line) || ENCODED_SHELL.test(line)) ||
    decodedNodes(argument, commands).some((node) => originsOf(node, site.scope).has('decoded'))
  return isHidden ? { rule: 'exec-decoded', detail: site.names[0] } : undefined
}

const ENCODED_SHELL =
  /\b(?:powershell|pwsh)(?:\.exe)?\b.{0,200}\s-e(?:c|nc|ncodedcommand)?\s+[A-Za-z0-9+/=]{40}|\bbase64\s+(?:-d|--decode)\b[^|]{0,80}\|\s*(?:ba|z)?sh\b/i

/** The program itself and what follows `-c`: an argument that was decoded is data. */
const decodedNodes = (argument: Expression, commands: readonly Command[]): Expression[] => {
  if (!isList(argument)) return commands.some(({ shell }) => shell) ? [argument] : []
  const { items } = argument
  return items.filter((_, at) => at === 0 || isCodeOption(items[at - 1]))
}

const isCodeOption = (node: Expression | undefined): boolean =>
  node?.kind === 'Constant' &&
  typeof node.value === 'string' &&
  /^[-/]c(ommand)?$/i.test(node.value)

/**
 * code-object: a code object made of its parts, or a function made of one that was unmarshalled. A copy that keeps the
 * instructions of another (`old.co_code`) is not: libraries that pickle functions or mend tracebacks make them.
 */
export const findCodeObjects = eachCall((site) =>
  isCodeObject(site) ? { rule: 'code-object' } : undefined,
)

const isCodeObject = ({ call, scope, names }: CallSite): boolean => {
  if (names.includes('types.CodeType')) return !call.args.some(isInstructions)
  const [code] = call.args
  return (
    code !== undefined &&
    names.includes('types.FunctionType') &&
    originsOf(code, scope).has('marshal')
  )
}

const isInstructions = (node: Expression): boolean =>
  node.kind === 'Attribute' && node.attr === 'co_code'
