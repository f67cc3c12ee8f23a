import { raise, raiseIfHandled } from '../operate/raise.ts'
import type { Runtime, Value } from '../types.ts'
import { isModule } from '../values/read-value.ts'
import { words } from '../../words.ts'
import NAMES from './standard-library.json' with { type: 'json' }
import type { Statement } from '../../python/ast.ts'

/** By name of what the standard library has no more: the release that removed it. */
const REMOVED_IN = byName(NAMES.removed)

/** By name of what only some hosts have: those hosts. */
const ONLY_ON = byName(NAMES.only)

const WINDOWS: keyof typeof NAMES.only = 'on Windows alone'

function byName(lists: Record<string, string>): ReadonlyMap<string, string> {
  const entries = Object.entries(lists)
  return new Map(entries.flatMap(([key, names]) => words(names).map((name) => [name, key])))
}

/** True for a name of the standard library that the assumed host lacks. */
export const isAbsent = (dottedName: string): boolean =>
  REMOVED_IN.has(dottedName) || ONLY_ON.get(dottedName) === WINDOWS

/**
 * Raises for a module or name that Python has no more. One of other hosts raises where that is handled; else a note says
 * that not every host has it.
 */
export function raiseIfAbsent(rt: Runtime, name: string, exception: string, message: string): void {
  const release = REMOVED_IN.get(name)
  if (release !== undefined) raise(rt, exception, `${message} (removed in Python ${release})`)
  const hosts = ONLY_ON.get(name)
  if (hosts === undefined) return
  if (hosts === WINDOWS) raiseIfHandled(rt, exception, message)
  const { module } = rt.state.scope
  const line = runningIn(rt, module)?.line
  if (line === undefined || rt.state.added || isConditional(rt)) return
  const note = { file: module.file ?? '', line, message: `${name}, ${hosts}` }
  rt.state.notes.push({ kind: 'elsewhere', ...note })
}

/** True when a module is being loaded within a statement that may not run on each host, or that handles exceptions. */
function isConditional(rt: Runtime): boolean {
  const running = [...rt.modules.values()].flatMap((one) => runningIn(rt, one) ?? [])
  return running.some(({ kind }) => kind === 'If' || kind === 'Try' || kind === 'Match')
}

function runningIn(rt: Runtime, module: Value): Statement | undefined {
  return isModule(module)
    ? rt.parser.parsed.get(module.file ?? '')?.body[module.running - 1]
    : undefined
}
