import { makeUnknown } from '../../values/make-value.ts'
import { nativeFunction } from '../../values/native.ts'
import type { NativeCall, Value } from '../../values/value.ts'

/** Names of a module with their values. */
export type Names = (readonly [string, Value])[]

/** Functions of a module, by name. */
export const functionsOf = (module: string, calls: Record<string, NativeCall>): Names =>
  Object.entries(calls).map(([name, call]) => [name, nativeFunction(`${module}.${name}`, call)])

/** Functions that do something we leave undone, and give None. Names are separated by blanks. */
export const quietFunctions = (module: string, names: string): Names =>
  names.split(' ').map((name) => [name, nativeFunction(`${module}.${name}`, () => null)])

/** Functions whose results are the machine's: unknown. */
export const machineFunctions = (module: string, names: string): Names =>
  names.split(' ').map((name) => {
    const dotted = `${module}.${name}`
    return [name, nativeFunction(dotted, () => makeUnknown(`${dotted}()`, 'machine'))]
  })

/** Methods that do nothing, and give None. */
export const quietMethods = (names: string): Record<string, NativeCall> =>
  Object.fromEntries(names.split(' ').map((name) => [name, () => null]))
