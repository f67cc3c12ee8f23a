import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeAttemptSlots, ATTEMPT_SLOTS } from '../../../src/platform/outbound/attempt-slots.ts'
import type { Wanted } from '../../../src/platform/outbound/attempt-slots.ts'

const signal = new AbortController().signal
const AT_ONCE = { waitMs: 0, signal }
const LONG = { waitMs: 60_000, signal }

const host = (name: string): Wanted[] => [['host', name]]

test('a host has so many slots, and another host its own', async () => {
  const { take } = makeAttemptSlots()
  for (let taken = 0; taken < 8; taken += 1)
    assert.ok((await take(host('a.example:443'), AT_ONCE)).release, `slot ${taken}`)
  assert.equal((await take(host('a.example:443'), AT_ONCE)).release, undefined)
  assert.ok((await take(host('b.example:443'), AT_ONCE)).release, 'of another host')
  assert.ok((await take(host('a.example:8443'), AT_ONCE)).release, 'of another port')
})

test('an owner has so many slots, whatever the hosts', async () => {
  const { take } = makeAttemptSlots({ ...ATTEMPT_SLOTS, owner: 2 })
  const takes = async (name: string, owner: string) =>
    (await take([...host(name), ['owner', owner]], AT_ONCE)).release !== undefined
  assert.ok(await takes('a', 'eve'))
  assert.ok(await takes('b', 'eve'))
  assert.ok(!(await takes('c', 'eve')))
  assert.ok(await takes('c', 'c'), 'an owner who is called like a host')
})

test('what is not taken whole is not taken at all', async () => {
  const { take, size } = makeAttemptSlots({ ...ATTEMPT_SLOTS, owner: 1 })
  const first = await take([['owner', 'eve']], AT_ONCE)
  assert.equal((await take([...host('a'), ['owner', 'eve']], AT_ONCE)).release, undefined)
  assert.equal(size(), 1)
  first.release?.()
  assert.equal(size(), 0)
})

test('a slot that is given back can be taken again, once', async () => {
  const { take } = makeAttemptSlots({ ...ATTEMPT_SLOTS, host: 2 })
  const takeOne = async () => (await take(host('a'), AT_ONCE)).release
  const [first, second] = [await takeOne(), await takeOne()]
  assert.equal(await takeOne(), undefined)
  first?.()
  first?.()
  assert.ok(await takeOne(), 'the one given back')
  assert.equal(await takeOne(), undefined)
  second?.()
  assert.ok(await takeOne(), 'the other one')
})

test('a host that holds no slot is forgotten', async () => {
  const { take, size } = makeAttemptSlots()
  const taken = await Promise.all(
    Array.from({ length: 100 }, (_, index) => take(host(`host-${index}`), AT_ONCE)),
  )
  assert.equal(size(), 100)
  for (const { release } of taken) release?.()
  assert.equal(size(), 0)
})

test('who is turned away learns in which group it comes, until a slot is given back', async () => {
  const { take } = makeAttemptSlots({ ...ATTEMPT_SLOTS, host: 2 })
  const first = await take(host('a'), AT_ONCE)
  await take(host('a'), AT_ONCE)
  const group = async () => (await take(host('a'), AT_ONCE)).groups
  assert.deepEqual([await group(), await group(), await group()], [1, 1, 2])
  first.release?.()
  await take(host('a'), AT_ONCE)
  assert.equal(await group(), 1)
})

test('those who wait get the slots that are given back, in turn', async () => {
  const { take, size } = makeAttemptSlots({ ...ATTEMPT_SLOTS, host: 1 })
  const first = await take(host('a'), LONG)
  const order: number[] = []
  const waiting = [1, 2, 3].map(async (number) => {
    const { release } = await take(host('a'), LONG)
    order.push(number)
    release?.()
  })
  assert.ok((await take(host('b'), LONG)).release, 'of another host')
  first.release?.()
  await Promise.all(waiting)
  assert.deepEqual(order, [1, 2, 3])
  assert.equal(size(), 1)
})

test('a wait ends with its time or its signal', async () => {
  const { take } = makeAttemptSlots({ ...ATTEMPT_SLOTS, host: 1 })
  await take(host('a'), LONG)
  const leaving = new AbortController()
  const waiting = take(host('a'), { waitMs: 60_000, signal: leaving.signal })
  leaving.abort()
  assert.equal((await waiting).release, undefined)
  assert.equal((await take(host('a'), { waitMs: 1, signal })).release, undefined)
})
