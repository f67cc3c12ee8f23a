import type { Call, Expression } from '../../python/ast.ts'
import { dottedNames } from '../../words.ts'
import { readCall, type CallSite } from './source-file.ts'
import { enter } from './enter.ts'
import { isList } from './parts.ts'
import { findBindings } from './find-bindings.ts'
import type { Binding, Effort, Scope } from './scope.ts'
import { keywordOf } from './targets.ts'
import { endsOf, namesOf } from './values.ts'

/**
 * Calls that a call leads to: those in the pack's function that it calls, with what it passes for the parameters, and
 * that of a function which it hands to `map`, a thread and the like. They stand in the line of the call itself.
 */
export const passedCalls = (site: CallSite, effort: Effort): CallSite[] => {
  const found: CallSite[] = []
  addPassed({ ...site, scope: { ...site.scope, effort } }, found, 0)
  return found
}

/** Steps that following the calls of a file may cost, and no more of one call. */
export const PASSED_STEPS = 300_000
const MAX_CALLS = 60

const MAX_DEPTH = 3

const addPassed = (site: CallSite, found: CallSite[], depth: number): void => {
  const { call, scope } = site
  if (depth > MAX_DEPTH || call.args.length + call.keywords.length === 0) return
  for (const [inner, own] of [...handedCalls(site), ...bodyCalls(call, scope)]) {
    if (found.length >= MAX_CALLS || scope.effort.steps <= 0) return
    scope.effort.steps -= 1
    const next = readCall({ call: { ...inner, line: call.line }, scope: own })
    found.push(next)
    addPassed(next, found, depth + 1)
  }
}

const bodyCalls = (call: Call, scope: Scope): [Call, Scope][] =>
  endsOf(call.func, scope).flatMap((end) => {
    const body = bodyOf(end)
    const own = body && enter(body, call, scope)
    if (!own || own === body || !mayHarm(body, 0)) return []
    return own.calls.flatMap(({ call: inner, scope: at }): [Call, Scope][] =>
      at === body ? [[inner, own]] : [],
    )
  })

/** True when a function calls something whose arguments a rule checks, or something that it is given. */
const mayHarm = (body: Scope, depth: number): boolean => {
  if (body.mayHarm === undefined) {
    body.mayHarm = false
    body.mayHarm = body.calls.some(({ call, scope }) => {
      const { func } = call
      if (func.kind === 'Attribute' && FILE_METHODS.test(func.attr)) return true
      const ends = endsOf(func, scope)
      return (
        namesOf(func, scope).some((name) => VALIDATED.test(name)) ||
        isGiven(func, scope) ||
        handedCalls({ call, scope, names: [], commands: [] }).length > 0 ||
        (depth < MAX_DEPTH && ends.some((end) => isHarmful(end, depth + 1)))
      )
    })
  }
  return body.mayHarm
}

const isHarmful = (end: Binding, depth: number): boolean => {
  const body = bodyOf(end)
  return body !== undefined && mayHarm(body, depth)
}

/** A parameter, or a member of one. */
const isGiven = (func: Expression, scope: Scope): boolean =>
  func.kind === 'Name' &&
  (findBindings(scope, func.id) ?? []).some(({ kind }) => kind === 'parameter')

const FILE_METHODS = /^(?:read_|write|open$|iterdir$|r?glob$)/

const VALIDATED =
  /^(?:builtins\.(?:exec|eval|execfile|compile|open|getattr|__import__)$|os\.(?:system|popen|exec|spawn|posix_spawn|startfile|open|listdir|scandir|walk)|(?:aiofiles|aiohttp|code|codecs|commands|ctypes|gdown|glob|httpx|importlib|niquests|pexpect|pty|requests|runpy|shutil|sqlite3|subprocess|tarfile|torch\.hub|types|urllib3?|wget|zipfile)\b)/

const bodyOf = (end: Binding): Scope | undefined => {
  if (end.kind === 'function') return end.scope
  const made = end.kind === 'class' ? (findBindings(end.scope, '__init__') ?? []) : []
  return made.find((binding) => binding.kind === 'function')?.scope
}

/** `map(f, x)`, `partial(f, x)`, `Thread(target=f, args=(x,))`, `pool.submit(f, x)`. */
const handedCalls = ({ call, scope, names }: CallSite): [Call, Scope][] => {
  const target = keywordOf(call, 'target')
  const passed = keywordOf(call, 'args')
  if (target) return [[handed(call, target, passed && isList(passed) ? passed.items : []), scope]]
  const [first, ...rest] = call.args
  const hands =
    names.some((name) => HANDING.has(name)) ||
    (call.func.kind === 'Attribute' && HANDING_METHODS.has(call.func.attr))
  return first && hands ? [[handed(call, first, rest), scope]] : []
}

const handed = ({ line }: Call, func: Expression, args: Expression[]): Call => ({
  kind: 'Call',
  func,
  args,
  keywords: [],
  line,
})

const HANDING = dottedNames({
  asyncio: 'to_thread',
  atexit: 'register',
  builtins: 'filter map',
  functools: 'partial',
  itertools: 'starmap',
})

const HANDING_METHODS = new Set(['apply', 'apply_async', 'map', 'submit'])
