import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateSeconds } from '../../../src/tasks/domain/image/image-size.ts'
import { IMAGE_KINDS } from '../../../src/tasks/domain/image/image-kind.ts'
import type { ImageTaskKind } from '../../../src/tasks/domain/image/image-kind.ts'

const KINDS = Object.keys(IMAGE_KINDS) as ImageTaskKind[]

test('every kind is estimated in whole seconds from 1 to 86400 that grow with the size', () => {
  for (const kind of KINDS) {
    const seconds = [0.000001, 4, 25, 100, 1e9].map((size) => estimateSeconds(kind, size))
    assert.ok(seconds.every(Number.isInteger), `${kind}: ${seconds.join()}`)
    assert.deepEqual(
      seconds,
      seconds.toSorted((a, b) => a - b),
    )
    assert.deepEqual([seconds[0], seconds.at(-1)], [1, 86_400])
  }
})

test('a size that is not known yet is estimated at 10 seconds', () => {
  for (const kind of KINDS) assert.equal(estimateSeconds(kind, undefined), 10)
})
