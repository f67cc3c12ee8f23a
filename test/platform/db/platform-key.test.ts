import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { useDatabase } from '../../support/stack.ts'

const database = useDatabase()

describe('the keys of a platform', () => {
  for (const [names, keys] of [
    [['Microsoft :: Windows'], 'windows'],
    [['Operating System :: Microsoft :: Windows :: Windows 11'], 'windows'],
    [['win32', 'WINDOWS'], 'windows'],
    [['MacOS'], 'macos'],
    [['MacOS :: MacOS X'], 'macos'],
    [['OS X', 'darwin', 'mac os 14'], 'macos'],
    [['POSIX :: Linux'], 'linux'],
    [['POSIX :: BSD :: FreeBSD'], 'freebsd'],
    [['Operating System :: POSIX'], 'linux,macos'],
    [['OS Independent'], 'any'],
    [[], 'any'],
    [['Plan 9', 'linux'], 'linux,plan 9'],
    [['GPU :: NVIDIA CUDA :: 12 :: 12.1'], 'cuda'],
    [['CUDA'], 'cuda'],
    [['GPU :: AMD ROCm'], 'rocm'],
    [['DirectML', 'Direct ML'], 'directml'],
    [['GPU :: Apple Metal', 'MPS'], 'mps'],
    [['NPU :: Huawei Ascend'], 'npu'],
    [['Intel XPU'], 'xpu'],
    [['Windmill', 'machine', 'hipster'], 'hipster,machine,windmill'],
  ] as const)
    test(`of ${names.join(', ') || 'none'} are ${keys}`, async () => {
      const [row] = await database.sql<{ keys: string[] }[]>`
        select platform_keys(${[...names]}::text[]) as keys
      `
      assert.equal(row?.keys.toSorted().join(), keys)
    })
})
