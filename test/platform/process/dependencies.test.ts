import assert from 'node:assert/strict'
import { test } from 'node:test'

import { makeDependencies } from '../../../src/platform/process/dependencies.ts'
import { waitFor } from '../../support/wait.ts'

const never = () => new Promise<never>(() => {})

test('a dependency that was well and is late once is well still, and late twice is not', async () => {
  let isLate = false
  const states: (string | undefined)[] = []
  const well = () => Promise.resolve()
  const read = makeDependencies({
    postgres: () => (isLate ? never() : well()),
    temporal: well,
    storage: well,
    workers: well,
  })
  const readNew = async () => {
    const before = read()
    const state = await waitFor('another probe', () => {
      const next = read()
      return next !== before && next
    })
    states.push(state.postgres)
  }
  assert.equal((await read()).postgres, undefined)
  isLate = true
  await readNew()
  await readNew()
  isLate = false
  await readNew()
  const late = 'postgres did not respond in 1000 ms: `kiln operate doctor` waits longer'
  assert.deepEqual(states, [undefined, late, undefined])
})

test('a dependency that is late at once is not well', async () => {
  const read = makeDependencies({
    postgres: never,
    temporal: never,
    storage: never,
    workers: never,
  })
  assert.match((await read()).storage ?? '', /^storage did not respond/)
})
