import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { widenAccelerators, widenSystems } from '../../src/domain/registry/support-names.ts'

describe('what people type finds what packs publish', () => {
  const CASES: [widen: typeof widenSystems, asked: string, found: string[], others: string[]][] = [
    [
      widenSystems,
      ' Linux ',
      ['linux', 'posix :: linux', 'operating system :: posix :: linux', 'posix', 'os independent'],
      ['macos', 'windows'],
    ],
    [
      widenSystems,
      'Microsoft :: Windows',
      ['windows', 'operating system :: microsoft :: windows :: windows 10', 'os independent'],
      ['linux', 'posix'],
    ],
    [widenSystems, 'OS X', ['macos', 'operating system :: macos', 'macos :: macos x'], ['linux']],
    [widenSystems, 'BeOS', ['beos', 'operating system :: os independent'], ['linux', 'macos']],
    [
      widenAccelerators,
      'CUDA',
      ['gpu :: nvidia cuda', 'environment :: gpu :: nvidia cuda', 'nvidia'],
      ['gpu :: amd rocm'],
    ],
    [widenAccelerators, 'GPU :: AMD ROCm', ['rocm', 'amd'], ['cuda']],
    [widenAccelerators, 'MPS', ['gpu :: apple metal', 'apple'], ['cuda']],
    [widenAccelerators, 'ascend', ['npu :: huawei ascend'], ['gpu :: intel arc']],
  ]
  for (const [widen, asked, found, others] of CASES)
    test(asked, () => {
      const names = new Set(widen([asked]))
      assert.deepEqual(
        found.filter((name) => !names.has(name)),
        [],
      )
      assert.deepEqual(
        others.filter((name) => names.has(name)),
        [],
      )
    })

  test('several at once', () => {
    const names = widenSystems(['linux', 'win'])
    assert.ok(names.includes('posix') && names.includes('windows'))
  })
})
