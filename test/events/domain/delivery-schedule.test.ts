import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  DELIVERY_SCHEDULE,
  findStatusClass,
  nextWait,
  type FailedAttempt,
} from '../../../src/events/domain/delivery-schedule.ts'
import { AttemptErrorClass } from '../../../src/events/domain/event.ts'
import { parseRetryAfter } from '../../../src/platform/domain/retry-after.ts'

const FAILED: FailedAttempt = { errorClass: 'status_5xx', status: 500 }
const MIDDLE = 0.5

describe('the wait after a failure', () => {
  const steps = [5, 15, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
  for (const [index, seconds] of steps.entries())
    test(`number ${index + 1} is ${seconds} s, 20 % more or less`, () => {
      const wait = (random: number) =>
        nextWait({ failures: index + 1, failed: FAILED, random })?.seconds
      assert.equal(wait(0), seconds * 0.8)
      assert.equal(wait(MIDDLE), seconds)
      assert.equal(wait(1), seconds * 1.2)
    })

  test('number 12 is none: the schedule is over', () => {
    for (const failures of [12, 13, 1_000])
      assert.equal(nextWait({ failures, failed: FAILED, random: MIDDLE }), undefined)
  })

  test('the schedule allows 12 attempts in 75.6 hours, the first at once', () => {
    const total = DELIVERY_SCHEDULE.steps.reduce((sum, step) => sum + step)
    assert.equal(DELIVERY_SCHEDULE.steps.length, 12)
    assert.equal(DELIVERY_SCHEDULE.steps[0], 0)
    assert.equal((total / 3_600).toFixed(1), '75.6')
  })

  const busy: FailedAttempt[] = [
    { errorClass: 'timeout' },
    { errorClass: 'status_4xx', status: 429 },
    { errorClass: 'status_5xx', status: 502 },
    { errorClass: 'status_5xx', status: 504 },
  ]
  for (const failed of busy)
    test(`is 60 s at least after ${failed.status ?? failed.errorClass}`, () => {
      const wait = (failures: number, random: number) =>
        nextWait({ failures, failed, random })?.seconds
      assert.equal(wait(1, 0), 60)
      assert.equal(wait(1, 1), 72)
      assert.equal(wait(4, 0), 240)
    })

  for (const errorClass of AttemptErrorClass.enum.filter((kind) => kind !== 'timeout'))
    test(`is the step after ${errorClass} without a busy status`, () => {
      const wait = nextWait({ failures: 1, failed: { errorClass }, random: MIDDLE })
      assert.deepEqual(wait, { seconds: 5, askedSeconds: 0 })
    })

  const asked: [failures: number, retryAfterSeconds: number, seconds: number][] = [
    // Less than the step: the step.
    [1, 0, 5],
    [1, 4, 5],
    [4, 100, 300],
    [11, 3_600, 86_400],
    // More: what was asked for, up to an hour, or twice the step where that is more.
    [1, 6, 6],
    [1, 3_600, 3_600],
    [1, 3_601, 3_600],
    [1, Infinity, 3_600],
    [5, 3_601, 3_600],
    [6, 10_000, 10_000],
    [6, 14_400, 14_400],
    [6, 14_401, 14_400],
    [11, 1e9, 172_800],
  ]
  for (const [failures, retryAfterSeconds, seconds] of asked)
    test(`number ${failures} is ${seconds} s with Retry-After ${retryAfterSeconds}`, () => {
      const failed = { ...FAILED, retryAfterSeconds }
      const wait = nextWait({ failures, failed, random: MIDDLE })
      // Of what was asked for no more counts than the wait has.
      const askedSeconds = Math.min(retryAfterSeconds, seconds)
      assert.deepEqual(wait, { seconds, askedSeconds })
    })

  test('keeps to the least of a busy receiver whatever it asks for', () => {
    const failed: FailedAttempt = { errorClass: 'status_4xx', status: 429, retryAfterSeconds: 1 }
    assert.deepEqual(nextWait({ failures: 1, failed, random: 0 }), {
      seconds: 60,
      askedSeconds: 1,
    })
  })

  test('is never shorter by chance than a Retry-After', () => {
    for (const random of [0, MIDDLE, 0.999]) {
      const { seconds = 0 } =
        nextWait({ failures: 1, failed: { ...FAILED, retryAfterSeconds: 5.9 }, random }) ?? {}
      assert.ok(seconds >= 5.9 && seconds <= 6, String(seconds))
    }
  })

  test('follows a schedule of milliseconds', () => {
    const limits = { busySeconds: 0.03, retryAfterSeconds: 1, disableSeconds: 1 }
    const schedule = { steps: [0, 0.01, 0.02], jitter: 0.2, ...limits }
    const wait = (failures: number, failed: FailedAttempt) =>
      nextWait({ failures, failed, random: MIDDLE, schedule })?.seconds
    assert.equal(wait(1, FAILED), 0.01)
    assert.equal(wait(2, FAILED), 0.02)
    assert.equal(wait(3, FAILED), undefined)
    assert.equal(wait(1, { errorClass: 'timeout' }), 0.033)
    assert.equal(wait(1, { ...FAILED, retryAfterSeconds: 60 }), 1)
  })
})

describe('a response', () => {
  const classes: [statuses: number[], errorClass: AttemptErrorClass | undefined][] = [
    [[200, 201, 202, 204, 226, 299], undefined],
    [[300, 301, 302, 304, 307, 308, 399], 'status_3xx'],
    [[400, 401, 404, 409, 411, 429, 499], 'status_4xx'],
    [[410], 'gone'],
    [[500, 502, 503, 504, 599], 'status_5xx'],
    [[100, 199, 600, 999], 'unknown'],
  ]
  for (const [statuses, errorClass] of classes)
    test(`with status ${statuses.join(', ')} is ${errorClass ?? 'a success'}`, () => {
      for (const status of statuses) assert.equal(findStatusClass(status), errorClass, `${status}`)
    })
})

describe('Retry-After', () => {
  const now = new Date('1994-11-06T08:49:07.500Z')
  const read: [header: string | undefined, seconds: number | undefined][] = [
    ['0', 0],
    ['120', 120],
    [' 120 ', 120],
    ['007', 7],
    ['9'.repeat(400), Infinity],
    ['Sun, 06 Nov 1994 08:49:37 GMT', 29.5],
    ['Sunday, 06-Nov-94 08:49:37 GMT', 29.5],
    ['Sun Nov  6 08:49:37 1994', 29.5],
    ['Sun, 06 Nov 1994 08:49:07 GMT', 0],
    ['Fri, 01 Jan 1971 00:00:00 GMT', 0],
    ...[undefined, '', '-5', '1.5', '1e3', '+5', '0x10', '5, 10', 'soon', '2020-01', 'GMT'].map(
      (header): [string | undefined, undefined] => [header, undefined],
    ),
    ['Sun, 06 Nov 1994 08:49:37', undefined],
    ['Sun, 06 Nov 1994 08:49:37 +0100', undefined],
    ['Sun, 06 Xyz 1994 08:49:37 GMT', undefined],
    ['Sun, 06 Nov 1994 25:49:37 GMT', undefined],
    ['1994-11-06T08:49:37Z', undefined],
  ]
  for (const [header, seconds] of read)
    test(`${JSON.stringify(header)?.slice(0, 40)} is ${seconds ?? 'nothing'}`, () =>
      assert.equal(parseRetryAfter(header, now), seconds))
})
