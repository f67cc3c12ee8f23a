import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { LIBRARY } from '../../src/interpret/library/library.ts'
import { SNIPPETS } from './snippets.ts'
import { CannotLoad, makeRunner } from './support.ts'
import type { Ran, Run } from './support.ts'

/** Pieces of code that meet each other in ways nobody wrote. */
const PIECES = SNIPPETS.flatMap(({ files }) =>
  Object.values(files).flatMap((text) => text.split(/(?<=\n)|(?=[([{:,])/)),
)

const LIMITS = { steps: 20_000 }

const RUNS = 150

describe('any text ends', () => {
  let run: Run
  before(async () => {
    run = await makeRunner({ library: LIBRARY, limits: LIMITS })
  })

  function check(files: Record<string, string>): void {
    let ran: Ran
    try {
      ran = run(files)
    } catch (error) {
      if (error instanceof CannotLoad) return
      throw error
    }
    const { interpreter, module } = ran
    const mapping = module.namespace.get('NODE_CLASS_MAPPINGS') ?? null
    interpreter.asDict(mapping)
    for (const value of module.namespace.values()) {
      interpreter.call(value, [], { steps: 200 })
      interpreter.text(value)
      interpreter.truth(value)
      interpreter.readItems(value)
      interpreter.findAttribute(value, 'INPUT_TYPES')
    }
    const issues = interpreter.notes().filter((note) => note.kind === 'error')
    assert.deepEqual(
      issues.filter((error) => !error.message.startsWith('RangeError')),
      [],
    )
  }

  test('lines and pieces of the snippets in any order', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...PIECES), { maxLength: 60 }), (pieces) => {
        check({ '__init__.py': pieces.join('') })
      }),
      { numRuns: RUNS, seed: 20261121 },
    )
  })

  test('snippets with a part cut out or doubled', () => {
    const cuts = fc.tuple(fc.constantFrom(...SNIPPETS), fc.nat(), fc.nat(), fc.boolean())
    fc.assert(
      fc.property(cuts, ([{ files }, at, length, doubled]) => {
        const text = files['__init__.py'] ?? ''
        const from = at % (text.length + 1)
        const to = from + (length % 40)
        const changed = doubled
          ? text.slice(0, to) + text.slice(from)
          : text.slice(0, from) + text.slice(to)
        check({ ...files, '__init__.py': changed })
      }),
      { numRuns: RUNS, seed: 20261121 },
    )
  })

  test('names of the snippets replaced by other names and values', () => {
    const words = [...new Set(PIECES.join(' ').match(/[A-Za-z_]\w*|\d+|"[^"\n]*"/g) ?? [])]
    const swap = fc.tuple(
      fc.constantFrom(...SNIPPETS),
      fc.array(fc.tuple(fc.nat(), fc.constantFrom(...words)), { maxLength: 4 }),
    )
    fc.assert(
      fc.property(swap, ([{ files }, swaps]) => {
        let text = files['__init__.py'] ?? ''
        for (const [at, word] of swaps) {
          const matches = [...text.matchAll(/[A-Za-z_]\w*|\d+|"[^"\n]*"/g)]
          const match = matches[at % Math.max(1, matches.length)]
          if (match)
            text = text.slice(0, match.index) + word + text.slice(match.index + match[0].length)
        }
        check({ ...files, '__init__.py': text })
      }),
      { numRuns: RUNS, seed: 20261121 },
    )
  })
})
