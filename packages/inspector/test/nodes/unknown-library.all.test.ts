import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { readJsonLines } from '../../../../test/support/json-lines.ts'
import { makeHostFacts } from '../../src/host/make-facts.ts'
import { makeInterpreter } from '../../src/interpret/interpreter.ts'
import { LIBRARY } from '../../src/interpret/library/library.ts'
import type { LibraryRegistry, Runtime } from '../../src/interpret/types.ts'
import { nativeFunction } from '../../src/interpret/values/native.ts'
import { isFunction, isModule, isNative } from '../../src/interpret/values/read-value.ts'
import { findNodes } from '../../src/nodes/find-nodes.ts'
import { makePack, type Pack } from '../../src/pack.ts'
import { makePythonParser } from '../../src/python/parse.ts'
import { decodeSource } from '../../src/python/source-text.ts'
import { entriesOf, type Files } from '../entries.ts'

const parser = await makePythonParser()
const CASES = readJsonLines(new URL('cases.jsonl', import.meta.url)) as {
  pack: string
  files: Files
}[]

interface Read {
  names: string[]
  /** It says that names may be missing, or that it could not be read. */
  isMarked: boolean
  runtime: Runtime
}

/**
 * Packs look through the names of foreign modules for node classes, which those have not: so what is not known of their
 * names counts as no node, and these two, which give a module or its names, cost what they would have given.
 */
const FOREIGN = new Set(['importlib.import_module', 'inspect.getmembers'])

const readWith = (pack: Pack, library: LibraryRegistry): Read => {
  const interpreter = makeInterpreter({
    pack,
    parser,
    decodeSource,
    library,
    facts: makeHostFacts(),
    now: () => 0,
  })
  const found = findNodes(interpreter)
  const isMarked =
    interpreter.reasons().length + found.reasons.length > 0 || found.state !== 'known'
  const names = found.nodes.map(({ name }) => name)
  return { names, isMarked, runtime: interpreter.runtime }
}

/** The library, of which one function returns nothing that is known. */
const without = (module: string, name: string): LibraryRegistry => ({
  find: (wanted) => {
    const make = LIBRARY.find(wanted)
    if (make === undefined || wanted !== module) return make
    return (rt) => {
      const made = make(rt)
      made.namespace.set(
        name,
        nativeFunction(`${module}.${name}`, () => undefined),
      )
      return made
    }
  },
})

/** Functions of the modules of the library that a pack imports. */
const listFunctions = ({ modules }: Runtime): [module: string, name: string][] =>
  [...modules].flatMap(([module, value]) =>
    isModule(value) && value.home === 'library'
      ? [...value.namespace].flatMap(([name, member]): [string, string][] =>
          (isFunction(member) || isNative(member)) && !name.startsWith('_') ? [[module, name]] : [],
        )
      : [],
  )

describe('a function of the library whose results are unknown', () => {
  for (const { pack: nodeId, files } of CASES)
    test(`costs no name of ${nodeId} in silence`, () => {
      const pack = makePack(entriesOf(files), { nodeId })
      const whole = readWith(pack, LIBRARY)
      const lost = listFunctions(whole.runtime).flatMap(([module, name]) => {
        const { names, isMarked } = readWith(pack, without(module, name))
        const missing = isMarked ? [] : whole.names.filter((one) => !names.includes(one))
        const isKnown = missing.length === 0 || FOREIGN.has(`${module}.${name}`)
        return isKnown ? [] : [`${module}.${name}: ${missing.join()}`]
      })
      assert.deepEqual(lost, [])
    })
})
