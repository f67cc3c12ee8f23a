import { reprOf } from '../../../src/interpret/operate/text-of.ts'
import { importModule } from '../../../src/interpret/modules/module-loader.ts'
import { call } from '../../../src/interpret/operate/call.ts'
import { readItems } from '../../../src/interpret/operate/iterate.ts'
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { BudgetSpent } from '../../../src/interpret/budget.ts'
import { LIBRARY } from '../../../src/interpret/library/library.ts'
import { makeInstance, makeList, makeTuple } from '../../../src/interpret/values/make-value.ts'
import { isFunction, isNative } from '../../../src/interpret/values/read-value.ts'
import { Raised } from '../../../src/interpret/operate/raise.ts'
import type { ClassValue, Runtime, Value } from '../../../src/interpret/types.ts'
import { makeRunner } from '../support.ts'

const MODULES =
  'abc asyncio atexit collections contextlib copy dataclasses enum functools glob ' +
  'importlib importlib.machinery importlib.util inspect ' +
  'io itertools json math os os.path pathlib pkgutil re shutil string sys threading ' +
  'types typing'

/** Values of every kind, and instances whose private state belongs to another class of the library. */
const PROGRAM = `
import collections, dataclasses, enum, functools, io, itertools, operator, pathlib, re, types
import unknown_module
class Plain: pass
class Odd(dict):
    def __getattr__(self, name): return name
class Color(enum.Enum): RED = 1
@dataclasses.dataclass
class Row: title: str = ''
loop = []
loop.append(loop)
values = [None, True, 3, -1, 2.5, float('nan'), '', 'a', '*', b'x', [], [1, 'a', None], (), ('a', 1), {}, {'a': 1},
    {1, 2}, range(3), slice(1), iter([1]), Plain, Plain(), Odd(), Color, Color.RED, Row, Row(), len, lambda *a, **k: a,
    'abc'.upper, unknown_module.thing, re.compile('a(b)?'), re.match('a', 'a'), functools.partial(int),
    pathlib.Path('/a'), pathlib.Path(__file__).parent, io.StringIO('a'), operator.itemgetter(0), loop,
    collections.deque([1]), collections.Counter('a'), collections.defaultdict(list), types.SimpleNamespace(a=1),
    itertools.count(), property(len), classmethod(len), ..., NotImplemented, types, __import__(__name__),
    2 ** 200, 'x' * 3000, '🏺', __file__]
`

/** Fails for anything but a raise of Python and a limit. */
const tryCall = (rt: Runtime, what: string, call: () => unknown, issues: Set<string>): void => {
  try {
    rt.budget.within(5000, call)
  } catch (error) {
    if (error instanceof Raised || error instanceof BudgetSpent) return
    issues.add(`${what}: ${error instanceof Error ? error.message : 'no error'}`)
  }
}

/** One argument of each value, then pairs that meet different neighbours. */
const argumentLists = (values: readonly Value[]): Value[][] => [
  [],
  ...values.map((value) => [value]),
  ...values.map((value, at) => [value, values[(at * 7 + 3) % values.length] ?? null]),
  ...values.map((value, at) => [values[(at * 5 + 1) % values.length] ?? null, value, value]),
]

const membersOf = (cls: ClassValue): [string, Value][] =>
  cls.mro.flatMap((base) =>
    base.kind === 'class' && base.module !== 'builtins' ? [...base.namespace] : [],
  )

describe('the library', async () => {
  const run = await makeRunner({ library: LIBRARY })

  test('the library takes any arguments without an error of its own', () => {
    const ran = run(PROGRAM, { limits: { steps: 1e9, containers: 1e9, volume: 1e9, forItems: 20 } })
    const rt = ran.interpreter.runtime
    const values = readItems(rt, ran.get('values') ?? null).items
    assert.equal(values.length, 54)
    const issues = new Set<string>()
    const callWithAll = (what: string, callee: Value, first: Value[] = []) => {
      for (const args of argumentLists(values)) {
        tryCall(rt, what, () => readSome(rt, call(rt, callee, [...first, ...args])), issues)
      }
    }
    for (const name of MODULES.split(' ')) {
      const module = importModule(rt, name)
      assert.ok(typeof module === 'object' && module?.kind === 'module', name)
      for (const [key, value] of module.namespace) {
        if (typeof value !== 'object' || value === null) continue
        if (value.kind === 'native' || value.kind === 'function') callWithAll(value.name, value)
        if (value.kind !== 'class' || value.module === 'builtins') continue
        callWithAll(`${name}.${key}`, value)
        for (const self of [makeInstance(value), ...values.slice(-24)]) {
          for (const [member, method] of membersOf(value))
            callMember(rt, { self, member, method, values, issues })
        }
      }
    }
    assert.deepEqual([...issues], [])
    assert.deepEqual(ran.interpreter.notes(), [])
  })
})

interface Member {
  self: Value
  member: string
  method: Value
  values: readonly Value[]
  issues: Set<string>
}

const isCode = (value: Value): boolean => isNative(value) || isFunction(value)

/** A method or getter with itself and a few other arguments. */
const callMember = (rt: Runtime, { self, member, method, values, issues }: Member): void => {
  if (typeof method !== 'object' || method === null) return
  const target = method.kind === 'property' ? method.get : isCode(method) ? method : undefined
  if (target === undefined) return
  const lists =
    method.kind === 'property'
      ? [[]]
      : [[], [self], [values[7] ?? null], [makeList([]), makeTuple([])]]
  for (const args of lists) {
    tryCall(rt, member, () => call(rt, target, [self, ...args]), issues)
  }
}

/** An iterator that came back is read a little, as whoever called would. */
const readSome = (rt: Runtime, value: Value): void => {
  if (typeof value !== 'object' || value?.kind !== 'iterator') return
  for (let count = 0; count < 5 && value.next() !== undefined; count += 1) reprOf(rt, value)
}
