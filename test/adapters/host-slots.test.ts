import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeHostSlots } from '../../src/adapters/outbound/host-slots.ts'

test('a host has so many slots, and another host its own', () => {
  const { tryTake } = makeHostSlots({ perHost: 8 })
  for (let taken = 0; taken < 8; taken += 1) assert.ok(tryTake('a.example:443'), `slot ${taken}`)
  assert.equal(tryTake('a.example:443'), undefined)
  assert.ok(tryTake('b.example:443'), 'of another host')
  assert.ok(tryTake('a.example:8443'), 'of another port')
})

test('a slot that is given back can be taken again, once', () => {
  const { tryTake } = makeHostSlots({ perHost: 2 })
  const first = tryTake('a')
  const second = tryTake('a')
  assert.equal(tryTake('a'), undefined)
  first?.()
  first?.()
  assert.ok(tryTake('a'), 'the one given back')
  assert.equal(tryTake('a'), undefined)
  second?.()
  assert.ok(tryTake('a'), 'the other one')
})

test('a host that holds no slot is forgotten', () => {
  const { tryTake, hosts } = makeHostSlots({ perHost: 1 })
  const releases = Array.from({ length: 100 }, (_, index) => tryTake(`host-${index}`))
  assert.equal(hosts(), 100)
  for (const release of releases) release?.()
  assert.equal(hosts(), 0)
})

test('a host counts who was turned away until a slot of it is given back', () => {
  const { tryTake, turnedAway } = makeHostSlots({ perHost: 1 })
  const release = tryTake('a')
  tryTake('a')
  tryTake('a')
  assert.deepEqual([turnedAway('a'), turnedAway('b')], [2, 0])
  release?.()
  assert.equal(turnedAway('a'), 0)
})
