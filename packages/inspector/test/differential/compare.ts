import { reprOf } from '../../src/interpret/operate/text-of.ts'
import type { Interpreter } from '../../src/interpret/interpreter.ts'
import type { ObjectValue, Value } from '../../src/interpret/types.ts'
import { dictEntries } from '../../src/interpret/values/dict.ts'
import { isTuple } from '../../src/interpret/values/read-value.ts'

/** A value as text, or its type and parts; null stands for what is unknown. */
export type Dump = string | null | Dump[]

/** True when nothing known differs. */
export const agrees = (known: Dump, actual: Dump): boolean => {
  if (known === null || typeof known === 'string' || typeof actual !== 'object' || !actual)
    return known === null || known === actual
  return known.length === actual.length && known.every((part, at) => agrees(part, actual[at] ?? ''))
}

export const isKnown = (dump: Dump): boolean =>
  Array.isArray(dump) ? dump.every(isKnown) : dump !== null

/** Makes of a value what run.py makes of it. */
export const makeDump = (interpreter: Interpreter) => {
  const dump = (value: Value): Dump => {
    if (value === null) return 'None'
    if (typeof value === 'boolean') return value ? 'True' : 'False'
    if (typeof value === 'bigint') return `int ${value}`
    if (typeof value === 'string') return `str ${value}`
    return typeof value === 'number' ? `float ${textOf(value) ?? ''}` : dumpObject(value)
  }

  const textOf = (value: Value) => reprOf(interpreter.runtime, value)

  const dumpObject = (value: ObjectValue): Dump => {
    switch (value.kind) {
      case 'bytes':
        return `bytes ${[...value.data].join()}`
      case 'range':
      case 'slice':
        return ifKnown(textOf(value), (text) => `${value.kind} ${text}`)
      case 'list':
      case 'tuple':
        return value.rest || value.maybe ? null : [value.kind, ...value.items.map(dump)]
      case 'dict':
        if (value.rest || value.maybe) return null
        return ['dict', ...dictEntries(value).map(([key, item]) => [dump(key), dump(item)])]
      case 'set':
        return dumpSet(value.frozen ? 'frozenset' : 'set', [...value.items.values()], value.rest)
      case 'class':
        return `class ${value.name}`
      case 'instance':
        return dumpInstance(value)
      case 'singleton':
        return value.name
      case 'unknown':
        return null
      default:
        return ['instance ?']
    }
  }

  const dumpSet = (kind: string, items: Value[], rest: boolean): Dump => {
    const dumps = items.map(dump)
    if (rest || !dumps.every(isKnown)) return null
    return [kind, ...dumps.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1))]
  }

  const dumpInstance = (value: ObjectValue & { kind: 'instance' }): Dump => {
    const { cls, payload, attributes } = value
    const bases = cls.mro.map((base) => (base.kind === 'class' ? base.name : ''))
    if (bases.includes('Enum'))
      return ifKnown(interpreter.findAttribute(value, 'name'), (name) =>
        typeof name === 'string' ? `member ${cls.name}.${name}` : null,
      )
    if (bases.includes('PurePath')) return typeof payload === 'string' ? `path ${payload}` : null
    if (bases.includes('BaseException')) {
      const args = attributes.get('args')
      return [`error ${cls.name}`, isTuple(args) ? dump(args) : null]
    }
    const entries = [...attributes].toSorted(([a], [b]) => (a < b ? -1 : 1))
    return [
      `instance ${cls.name}`,
      ...(payload === undefined ? [] : [dump(payload)]),
      ...entries.map(([key, item]) => [key, dump(item)]),
    ]
  }

  return dump
}

const ifKnown = <T>(value: T | undefined, make: (value: T) => Dump): Dump =>
  value === undefined ? null : make(value)
