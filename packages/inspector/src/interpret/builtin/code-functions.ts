import { evaluate } from '../evaluate/expression.ts'
import { globalsOf, moduleScope } from '../evaluate/name.ts'
import { execute } from '../execute/statement.ts'
import { makePackModule } from '../modules/run-module.ts'
import { argumentOf } from '../operate/arguments.ts'
import { openNames } from '../operate/not-followed.ts'
import { raise } from '../operate/raise.ts'
import type { DictValue, Kwargs, NativeCall, Runtime, Scope, Value } from '../types.ts'
import { makeNamespaceDict } from '../values/make-value.ts'
import { isDict, textOf } from '../values/read-value.ts'
import type { Statement } from '../../python/ast.ts'

/** Longest text that is run as code. */
const CODE_MAX = 100_000

/** Builtin functions that run text. A text that is not known may define any name in the namespaces given. */
export const CODE_FUNCTIONS: Record<string, NativeCall> = {
  exec: (rt, args, kwargs) => {
    const spaces = spacesOf(args, kwargs)
    const body = spaces && parse(rt, args[0])
    if (spaces && body) execute(rt, body, scopeOf(rt, spaces))
    else open(rt, [...args.slice(1), ...kwargs.values()])
    return null
  },
  eval: (rt, args, kwargs) => {
    const spaces = spacesOf(args, kwargs)
    const [statement, ...others] = (spaces && parse(rt, args[0])) ?? []
    if (!spaces || statement?.kind !== 'Expr' || others.length > 0) {
      open(rt, [...args.slice(1), ...kwargs.values()])
      return undefined
    }
    return evaluate(rt, statement.value, scopeOf(rt, spaces))
  },
  /** Code is its text to whoever runs it. */
  compile: (_rt, [source]) => textOf(source ?? null),
}

interface Spaces {
  globals: DictValue | undefined
  locals: DictValue | undefined
}

/** The namespaces that are given; undefined where one of them is not known. */
const spacesOf = (args: Value[], kwargs: Kwargs): Spaces | undefined => {
  const globals = argumentOf(args, kwargs, 1, 'globals') ?? null
  const locals = argumentOf(args, kwargs, 2, 'locals') ?? null
  const isKnown = [globals, locals].every((given) => given === null || isDict(given))
  if (!isKnown) return undefined
  return {
    globals: isDict(globals) ? globals : undefined,
    locals: isDict(locals) ? locals : undefined,
  }
}

const parse = (rt: Runtime, code: Value | undefined): readonly Statement[] | undefined => {
  const text = textOf(code ?? null)
  if (text === undefined || text.length > CODE_MAX) return undefined
  const { body, syntaxError } = rt.parser.parseText(text.replace(/^[ \t]+/, ''))
  if (syntaxError) raise(rt, 'SyntaxError', syntaxError.message)
  return body
}

/** Gives the scope of the code: the one that calls it, or one with the namespaces given. */
const scopeOf = (rt: Runtime, { globals, locals }: Spaces): Scope => {
  const { scope } = rt.state
  const isOwn = globals === undefined || globals === scope.module.dict
  const around = isOwn ? scope : moduleScope(moduleOf(rt, globals))
  if (locals === undefined || locals === globals) return around
  // Functions that are defined there do not see its names, as in the body of a class.
  const parent = isOwn ? moduleScope(scope.module) : around
  return { ...parent, kind: 'class', names: namesOf(locals), parent }
}

/** A module whose namespace is a dict. */
const moduleOf = (rt: Runtime, dict: DictValue) => {
  const names = namesOf(dict)
  const name = textOf(names.get('__name__') ?? null) ?? 'builtins'
  const file = textOf(names.get('__file__') ?? null) ?? ''
  if (!names.has('__builtins__')) names.set('__builtins__', makeNamespaceDict(rt.builtins))
  const module = makePackModule(name, file, false)
  return { ...module, namespace: names, dict, complete: !dict.rest }
}

/** Text is its own hash key. */
const namesOf = (dict: DictValue): Map<string, Value> => dict.values as Map<string, Value>

/** Leaves namespaces open: they may have more names than are known. */
const open = (rt: Runtime, spaces: readonly Value[]): void => {
  rt.state.ranUnknown = true
  const given = spaces.filter(isDict)
  for (const dict of given.length > 0 ? given : [globalsOf(rt.state.scope.module)]) {
    dict.rest = true
    openNames(rt, dict.values.values())
  }
}
