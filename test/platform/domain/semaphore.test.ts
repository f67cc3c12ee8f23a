import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeSemaphore } from '../../../src/platform/domain/semaphore.ts'

/** A semaphore of one place, which somebody has until `begin` is called. */
const makeHeld = (maxOfParty?: number) => {
  const semaphore = makeSemaphore(1, maxOfParty)
  const done: string[] = []
  let end = (): void => {}
  const held = new Promise<void>((resolve) => (end = resolve))
  const first = semaphore.run(() => held)
  const add = (name: string, party: string, patience?: number) =>
    semaphore.run(() => Promise.resolve(void done.push(name)), patience, party)
  return { add, done, begin: () => (end(), first) }
}

describe('a semaphore', () => {
  test('gives places to parties in turn, and to those of one in their order', async () => {
    const { add, done, begin } = makeHeld()
    const all = ['a1', 'a2', 'a3', 'b1', 'c1', 'b2'].map((name) => add(name, name.charAt(0)))
    await Promise.all([begin(), ...all])
    assert.deepEqual(done, ['a1', 'b1', 'c1', 'a2', 'b2', 'a3'])
  })

  test('rejects at once who would be one too many of a party, and nobody of another', async () => {
    const { add, done, begin } = makeHeld(2)
    const all = [add('a1', 'a'), add('a2', 'a'), add('b1', 'b')]
    await assert.rejects(add('a3', 'a'), { code: 'busy' })
    await Promise.all([begin(), ...all])
    assert.deepEqual(done, ['a1', 'b1', 'a2'])
  })

  test('forgets who has waited for too long, and goes on with the others', async () => {
    const { add, done, begin } = makeHeld(1)
    await assert.rejects(add('a1', 'a', 0), { code: 'busy' })
    const all = [add('a2', 'a'), add('b1', 'b')]
    await Promise.all([begin(), ...all])
    assert.deepEqual(done, ['a2', 'b1'])
  })
})
