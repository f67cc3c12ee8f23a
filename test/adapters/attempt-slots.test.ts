import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeAttemptSlots, ATTEMPT_SLOTS } from '../../src/adapters/outbound/attempt-slots.ts'
import type { Wanted } from '../../src/adapters/outbound/attempt-slots.ts'

const host = (name: string): Wanted[] => [['host', name]]

test('a host has so many slots, and another host its own', () => {
  const { tryTake } = makeAttemptSlots()
  for (let taken = 0; taken < 8; taken += 1)
    assert.ok(tryTake(host('a.example:443')).release, `slot ${taken}`)
  assert.equal(tryTake(host('a.example:443')).release, undefined)
  assert.ok(tryTake(host('b.example:443')).release, 'of another host')
  assert.ok(tryTake(host('a.example:8443')).release, 'of another port')
})

test('an owner has so many slots, whatever the hosts', () => {
  const { tryTake } = makeAttemptSlots({ ...ATTEMPT_SLOTS, owner: 2 })
  const take = (name: string, owner: string) =>
    tryTake([...host(name), ['owner', owner]]).release !== undefined
  assert.deepEqual([take('a', 'eve'), take('b', 'eve'), take('c', 'eve')], [true, true, false])
  assert.ok(take('c', 'c'), 'an owner who is called like a host')
})

test('what is not taken whole is not taken at all', () => {
  const { tryTake, size } = makeAttemptSlots({ ...ATTEMPT_SLOTS, owner: 1 })
  const first = tryTake([['owner', 'eve']])
  assert.equal(tryTake([...host('a'), ['owner', 'eve']]).release, undefined)
  assert.equal(size(), 1)
  first.release?.()
  assert.equal(size(), 0)
})

test('a slot that is given back can be taken again, once', () => {
  const { tryTake } = makeAttemptSlots({ ...ATTEMPT_SLOTS, host: 2 })
  const first = tryTake(host('a'))
  const second = tryTake(host('a'))
  assert.equal(tryTake(host('a')).release, undefined)
  first.release?.()
  first.release?.()
  assert.ok(tryTake(host('a')).release, 'the one given back')
  assert.equal(tryTake(host('a')).release, undefined)
  second.release?.()
  assert.ok(tryTake(host('a')).release, 'the other one')
})

test('a host that holds no slot is forgotten', () => {
  const { tryTake, size } = makeAttemptSlots()
  const taken = Array.from({ length: 100 }, (_, index) => tryTake(host(`host-${index}`)))
  assert.equal(size(), 100)
  for (const { release } of taken) release?.()
  assert.equal(size(), 0)
})

test('who is turned away learns in which group it comes, until a slot is given back', () => {
  const { tryTake } = makeAttemptSlots({ ...ATTEMPT_SLOTS, host: 2 })
  const [first] = [tryTake(host('a')), tryTake(host('a'))]
  const groups = () => tryTake(host('a')).groups
  assert.deepEqual([groups(), groups(), groups()], [1, 1, 2])
  first?.release?.()
  tryTake(host('a'))
  assert.equal(groups(), 1)
})
