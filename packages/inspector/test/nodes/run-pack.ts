import { makeHostFacts } from '../../src/host/make-facts.ts'
import { makeInterpreter } from '../../src/interpret/interpreter.ts'
import type { Interpreter } from '../../src/interpret/interpreter.ts'
import { LIBRARY } from '../../src/interpret/library/library.ts'
import type { ModuleValue, Value } from '../../src/interpret/types.ts'
import { makeJsonWriter } from '../../src/nodes/json-text.ts'
import { listV3Classes } from '../../src/nodes/v3/list-v3-classes.ts'
import { readV3Node } from '../../src/nodes/v3/read-v3-node.ts'
import { makePythonParser } from '../../src/python/parse.ts'
import { decodeSource } from '../../src/python/source-text.ts'

export interface RanPack {
  interpreter: Interpreter
  module: ModuleValue
  /** A name of `__init__.py`. */
  get(name: string): Value
  /** A name of `__init__.py` as JSON; `unknown` stands for what is unknown. */
  json(name: string): unknown
}

const parser = await makePythonParser()

/** Runs a pack given as text by path, with library and facts about the host; a lone text is `__init__.py`. */
export const runPack = (source: string | Record<string, string>): RanPack => {
  const texts = typeof source === 'string' ? { '__init__.py': source } : source
  const encoder = new TextEncoder()
  const files = new Map(Object.entries(texts).map(([path, text]) => [path, encoder.encode(text)]))
  const interpreter = makeInterpreter({
    pack: { files, paths: [...files.keys()].toSorted(), ownNames: ['demopack'] },
    parser,
    decodeSource,
    library: LIBRARY,
    facts: makeHostFacts(),
  })
  const { module } = interpreter.importEntry()
  if (!module) throw new Error('The pack has no __init__.py')
  const get = (name: string): Value => {
    const value = module.namespace.get(name)
    if (value === undefined) throw new Error(`The pack has no name ${name}`)
    return value
  }
  const { types } = makeJsonWriter(interpreter)
  return {
    interpreter,
    module,
    get,
    json: (name) => JSON.parse(types(get(name), '"unknown"').text),
  }
}

/** Fields of the newer form, with the JSON texts read. */
export const readV3 = ({ interpreter }: RanPack, cls: Value) => {
  if (typeof cls !== 'object' || cls?.kind !== 'class') throw new Error('It is no class')
  const read = readV3Node(interpreter, makeJsonWriter(interpreter), cls)
  if (!read) throw new Error('It has no schema')
  const { ids, fields } = read
  return {
    ...fields,
    ids,
    input_types: JSON.parse(fields.input_types) as Record<string, Record<string, unknown>>,
    return_types: JSON.parse(fields.return_types) as unknown,
    return_names: JSON.parse(fields.return_names) as unknown,
  }
}

/** Fields of every node that the pack's entrypoint gives. */
export const readEntrypoint = (ran: RanPack) => {
  const listed = listV3Classes(ran.interpreter, ran.module)
  if (!listed) throw new Error('The pack has no entrypoint')
  return { complete: listed.complete, nodes: listed.classes.map((cls) => readV3(ran, cls)) }
}
