import type { Expression } from '../../python/ast.ts'
import { IMPORTERS, keywordOf } from '../source/targets.ts'
import type { Origin } from '../source/origin-names.ts'
import { originsOf } from '../source/origins.ts'
import type { Scope } from '../source/scope.ts'
import type { CallSite } from '../source/source-file.ts'
import { eachCall } from '../hit.ts'
import { constantText, namesOf, targetsOf } from '../source/values.ts'
import { words } from '../../words.ts'

/**
 * hidden-call: the name of a module or function is put together or decoded, although it is a constant, and names something
 * dangerous. `getattr(self, 'visit_' + kind)` is ordinary: a part of its name is not known.
 */
export const findHiddenCalls = eachCall((site) => {
  const name = hiddenName(site) ?? hiddenItem(site)
  return name === undefined ? undefined : { rule: 'hidden-call', detail: name }
})

/** `getattr(x, 'sys' + 'tem')` and `__import__('o' + 's')`. */
const hiddenName = (site: CallSite): string | undefined => {
  const { call, scope, names } = site
  const isImport = names.some((name) => IMPORTERS.has(name))
  const isGetter = names.includes('builtins.getattr')
  const argument = isImport
    ? (call.args[0] ?? keywordOf(call, 'name'))
    : isGetter
      ? call.args[1]
      : undefined
  return argument && validateName(argument, scope, isImport ? MODULES : MEMBERS)
}

/** `vars(os)['sys' + 'tem'](c)`, `globals()['ev' + 'al'](c)`. */
const hiddenItem = ({ call, scope }: CallSite): string | undefined => {
  const { func } = call
  if (func.kind !== 'Subscript') return undefined
  const holders = namesOf(func.value, scope)
  return holders.some((name) => HOLDERS.test(name))
    ? validateName(func.index, scope, MEMBERS)
    : undefined
}

const HOLDERS = /\.__dict__$|^builtins(\.globals\(\)|\.locals\(\))?$/

const validateName = (
  argument: Expression,
  scope: Scope,
  dangerous: ReadonlySet<string>,
): string | undefined => {
  if (isPlain(argument, scope)) return undefined
  const name = constantText(argument, scope)
  if (name !== undefined) return dangerous.has(name) ? name : undefined
  return isDecodedConstant(originsOf(argument, scope)) ? 'a decoded name' : undefined
}

/** A literal, or a name for one. */
const isPlain = (node: Expression, scope: Scope): boolean => {
  if (node.kind === 'Constant') return true
  if (node.kind !== 'Name') return false
  const bindings = targetsOf(node, scope)
  return bindings.every((binding) => binding.kind !== 'value' || binding.value.kind === 'Constant')
}

/** Decoders of this file's own constants: what is read from a file or a request is no hidden name. */
const isDecodedConstant = (origins: ReadonlySet<Origin>): boolean =>
  origins.has('decoded') &&
  !origins.has('file') &&
  !origins.has('network') &&
  !origins.has('response')

const MODULES: ReadonlySet<string> = new Set(
  words(`
    __builtin__ base64 builtins codecs commands ctypes marshal os pty pickle socket subprocess
    urllib.request zlib`),
)

const MEMBERS: ReadonlySet<string> = new Set(
  words(`
    __builtins__ __import__ CodeType FunctionType Popen b64decode builtins call check_call
    check_output compile decompress environ eval exec execfile execv execve getoutput
    import_module loads popen run spawnl spawnv startfile system urlopen urlretrieve`),
)
