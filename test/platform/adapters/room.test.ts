import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { probeStorage } from '../../../src/platform/process/open-storage.ts'
import type { PlatformConfig } from '../../../src/platform/settings/settings.ts'
import { findShortage } from '../../../src/platform/storage/room.ts'
import { S3Error } from '../../../src/platform/storage/s3-client.ts'
import { isFull, type Storage } from '../../../src/platform/storage/storage.ts'

const GB = 1e9
const CASES: [gigabytes: number, free: number, isUrgent: boolean | undefined][] = [
  [0.4, 0.4, undefined],
  [0.4, 0.036, false],
  [0.4, 0.01, true],
  [12, 0.9, true],
  [100, 11, undefined],
  [100, 9, false],
  [100, 3, true],
  [2000, 150, false],
]

describe('the room of a store', () => {
  for (const [size, free, isUrgent] of CASES)
    test(`of ${free} of ${size} GB is ${isUrgent === undefined ? 'enough' : isUrgent ? 'urgent' : 'a warning'}`, () => {
      const found = findShortage({ path: '/data', freeBytes: free * GB, bytes: size * GB })
      assert.equal(found?.isUrgent, isUrgent)
      if (found)
        assert.match(
          found.message,
          /are free in \/data; once it is full, uploads are rejected with 503.*: make room/,
        )
    })

  for (const error of [
    Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' }),
    Object.assign(new Error('no'), { code: 'EDQUOT' }),
    new S3Error('PutObject', 'no', { code: 'XMinioStorageFull', status: 507 }),
  ])
    test(`is used up by ${error.code}, which its probe says with its folder and what to do`, async () => {
      assert.equal(isFull(error), true)
      const store = { check: () => Promise.reject(error) } as unknown as Storage
      const config = { STORAGE: 'local', STORAGE_PATH: '/data' } as PlatformConfig
      await assert.rejects(probeStorage(store, config), {
        name: 'OperatorError',
        message:
          'the store is full (/data): uploads are rejected with 503, and renders are repeated until there is room: make room, or lower RESULT_RETENTION_DAYS',
      })
    })

  test('says nothing of another error', async () => {
    const error = new Error('away')
    const store = { check: () => Promise.reject(error) } as unknown as Storage
    await assert.rejects(probeStorage(store, {} as PlatformConfig), error)
  })
})
