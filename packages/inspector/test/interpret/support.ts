import { reprOf as reprOfValue } from '../../src/interpret/operate/text-of.ts'
import { dictEntries } from '../../src/interpret/values/dict.ts'
import { makeInterpreter } from '../../src/interpret/interpreter.ts'
import type { Interpreter, InterpreterOptions } from '../../src/interpret/interpreter.ts'
import type { ModuleValue, Value } from '../../src/interpret/types.ts'
import { makePythonParser } from '../../src/python/parse.ts'
import { decodeSource } from '../../src/python/source-text.ts'

export interface Ran {
  interpreter: Interpreter
  module: ModuleValue
  /** A name of `__init__.py`. */
  get(name: string): Value | undefined
}

export type Run = (
  source: string | Record<string, string>,
  options?: Partial<InterpreterOptions>,
) => Ran

const encoder = new TextEncoder()

export class CannotLoad extends Error {}

/** Runs packs given as text by path; a lone text is `__init__.py`. */
export async function makeRunner(defaults: Partial<InterpreterOptions> = {}): Promise<Run> {
  const parser = await makePythonParser()
  return (source, options = {}) => {
    const texts = typeof source === 'string' ? { '__init__.py': source } : source
    const files = new Map(Object.entries(texts).map(([path, text]) => [path, encoder.encode(text)]))
    const interpreter = makeInterpreter({
      pack: { files, paths: [...files.keys()].toSorted(), ownNames: ['demopack'] },
      parser,
      decodeSource,
      library: { find: () => undefined },
      ...defaults,
      ...options,
    })
    const { module } = interpreter.importEntry()
    if (!module) throw new CannotLoad('The pack has no __init__.py, or it raises')
    return { interpreter, module, get: (name) => module.namespace.get(name) }
  }
}

/** Names of `NODE_CLASS_MAPPINGS` with the names of their classes. */
export function mapping(ran: Ran): Record<string, string> {
  const value = ran.get('NODE_CLASS_MAPPINGS')
  const dict = value === undefined ? undefined : ran.interpreter.asDict(value)
  if (!dict) throw new Error(`NODE_CLASS_MAPPINGS is no dict but ${describeValue(value)}`)
  return Object.fromEntries(
    dictEntries(dict).map(([key, entry]) => [
      ran.interpreter.text(key) ?? describeValue(key),
      nameOfClass(entry),
    ]),
  )
}

function nameOfClass(value: Value): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return value.kind === 'class' ? value.name : value.kind
}

/** The kind of a value, and the name of an unknown. */
export function describeValue(value: Value | undefined): string {
  if (typeof value !== 'object' || value === null) return String(value)
  return value.kind === 'unknown' ? `unknown ${value.name}` : value.kind
}

/** `repr` of a name of `__init__.py`; what can't be printed in angle brackets. */
export function reprOf(ran: Ran, name: string): string {
  const value = ran.get(name)
  if (value === undefined) return '<unbound>'
  return reprOfValue(ran.interpreter.runtime, value) ?? `<${describeValue(value)}>`
}
