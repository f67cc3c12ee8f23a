import assert from 'node:assert/strict'
import { mkdtemp, rm, truncate, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { openFileSource, withReadAhead } from '../../src/archive/source.ts'
import { makeBytesSource, watchSource } from './sources.ts'

const content = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 251))

describe('a source', () => {
  let folder = ''
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'kiln-source-'))
  })
  after(() => rm(folder, { recursive: true }))

  test('of a file reads exactly what is asked for', async () => {
    const path = join(folder, 'archive')
    await writeFile(path, content)
    const source = await openFileSource(path)
    try {
      assert.equal(source.size, content.length)
      assert.deepEqual(Buffer.from(await source.read(150_000, 50_000)), content.subarray(150_000))
      assert.equal((await source.read(200_000, 0)).length, 0)
    } finally {
      await source.close()
    }
  })

  test('of a file that is cut meanwhile rejects', async () => {
    const path = join(folder, 'cut')
    await writeFile(path, content)
    const source = await openFileSource(path)
    try {
      await truncate(path, 10)
      await assert.rejects(source.read(0, 20), /ended before byte 20/)
    } finally {
      await source.close()
    }
  })

  test('of a path without a file rejects', async () => {
    await assert.rejects(openFileSource(join(folder, 'none')), { code: 'ENOENT' })
  })

  test('with read-ahead gives the same bytes with fewer reads', async () => {
    const watched = watchSource(makeBytesSource(content))
    const source = withReadAhead(watched)
    for (const [offset, length] of [
      [5, 10],
      [15, 40],
      [60_000, 9000],
      [0, 5],
      [199_999, 1],
      [1, 199_999],
      [199_999, 0],
    ] as const)
      assert.deepEqual(
        Buffer.from(await source.read(offset, length)),
        content.subarray(offset, offset + length),
      )
    assert.deepEqual(
      watched.reads.map(({ offset }) => offset),
      [5, 60_000, 0, 199_999, 1],
    )
  })
})
