import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { extract, nodeOf } from './extract-pack.ts'

/** `key` is of a library that is not followed. */
const START = `
from elsewhere import key
L = ["b", "a", "c"]
def sort(**options):
    L = ["b", "a", "c"]
    L.sort(**options)
    return L
class Cup:
    RETURN_TYPES = ("IMAGE",)
`

/** Items of a list of choices, or a default, that a function which is not followed decides. */
const FIELDS: [spec: string, given: unknown][] = [
  ['(sorted(L, key=key),)', [['b', 'a', 'c']]],
  ['(sorted(L, reverse=key),)', [['b', 'a', 'c']]],
  ['(sort(key=key),)', [['b', 'a', 'c']]],
  ['(sort(reverse=key),)', [['b', 'a', 'c']]],
  ['(tuple(sorted(L, key=key)),)', [['b', 'a', 'c']]],
  ['(["none", *sorted(L, key=key)],)', [['none', 'b', 'a', 'c']]],
  ['(["none"] + sorted(L, key=key),)', [['none', 'b', 'a', 'c']]],
  ['([t.upper() for t in sorted(L, key=key)],)', [['B', 'A', 'C']]],
  ['(list(t for t in sorted(L, key=key)),)', [['b', 'a', 'c']]],
  ['(list(map(str.upper, sorted(L, key=key))),)', [['B', 'A', 'C']]],
  ['(list(reversed(sorted(L, key=key))),)', [['c', 'a', 'b']]],
  ['([t for _, t in enumerate(sorted(L, key=key))],)', [['b', 'a', 'c']]],
  ['(sorted(L, key=key)[:2],)', [['b', 'a', 'c']]],
  ['([sorted(L, key=key)[0]],)', [['b']]],
  ['([next(iter(sorted(L, key=key)))],)', [['b']]],
  ['([sorted(L, key=key).pop()],)', [['b']]],
  ['([["none", *sorted(L, key=key)][1]],)', [['b']]],
  ['([sorted(L, key=key).index("a")],)', [[]]],
  ['("STRING", {"default": ",".join(sorted(L, key=key))})', ['STRING', {}]],
  ['([min(L, key=key)],)', [[]]],
  ['([max(L, key=key)],)', [[]]],
  ['(list(filter(key, L)),)', [['b', 'a', 'c']]],
  ['([t for t in filter(key, L)],)', [['b', 'a', 'c']]],
  ['(list(t for t in L if key(t)),)', [['b', 'a', 'c']]],
  ['(sorted({t for t in L if key(t)}),)', [['a', 'b', 'c']]],
  ['([next(t for t in L if key(t))],)', [['b']]],
  ['([next(filter(key, L), "d")],)', [['b']]],
]

/** Nodes of which a function that is not followed decides the order, or whether they are there. */
const NAMES: [source: string, names: string[], dynamic: string[]][] = [
  ['for n in sorted(L, key=key): M[n] = Cup', ['b', 'a', 'c'], []],
  ['for n in sorted(L, key=key)[:2]: M[n] = Cup', ['b', 'a', 'c'], ['host_node_name']],
  ['M[sorted(L, key=key)[0]] = Cup', ['b', 'a', 'c'], ['host_node_name']],
  ['n, *others = sorted(L, key=key); M[n] = Cup', ['b', 'a', 'c'], ['host_node_name']],
  ['M[next(n for n in L if key(n))] = Cup', ['b', 'a', 'c'], ['host_node_name']],
  ['for n in filter(key, L): M[n] = Cup', ['b', 'a', 'c'], ['host_node_name']],
  ['M.update({n: Cup for n in filter(key, L)})', ['b', 'a', 'c'], ['host_node_name']],
]

/** Values that it does not decide. */
const KNOWN: [spec: string, given: unknown][] = [
  ['([["none", *sorted(L, key=key)][0]],)', [['none']]],
  ['((["none"] + sorted(L, key=key))[:1],)', [['none']]],
  ['(sorted(sorted(L, key=key)),)', [['a', 'b', 'c']]],
  ['([len(sorted(L, key=key)), "a" in sorted(L, key=key)],)', [[3, true]]],
]

describe('what a function that is not followed decides of items', () => {
  for (const [spec, given, dynamic] of [
    ...FIELDS.map((field) => [...field, ['input_types.x']] as const),
    ...KNOWN.map((field) => [...field, []] as const),
  ])
    test(`is ${dynamic.length > 0 ? '' : 'not '}dynamic in a field: ${spec}`, () => {
      const inputs = `classmethod(lambda c: {"required": {"x": ${spec}}})`
      const section = extract(
        `${START}    INPUT_TYPES = ${inputs}\nNODE_CLASS_MAPPINGS = {"Cup": Cup}`,
      )
      const node = nodeOf(section, 'Cup')
      assert.deepEqual(JSON.parse(node.input_types), { required: { x: given } })
      assert.deepEqual(node.dynamic, dynamic)
    })

  for (const [source, names, dynamic] of NAMES)
    test(`keeps all names: ${source}`, () => {
      const { nodes } = extract(`${START}NODE_CLASS_MAPPINGS = M = {}\n${source}`)
      assert.deepEqual(
        nodes.map((node) => [node.name, node.dynamic]),
        names.map((name) => [name, dynamic]),
      )
    })
})
