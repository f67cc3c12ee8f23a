import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { makeBars } from '../src/account/usage-bars.ts'
import { countRequests, pickLines } from '../src/tasks/batch-file.ts'
import { foldLines } from '../src/tasks/fold-lines.ts'

const fileOf = (text: string, name = 'batch.jsonl'): File => new File([text], name)

describe('a file of requests', () => {
  test('is counted without its blank lines', async () => {
    assert.equal(await countRequests(fileOf('{"a":1}\n\n  \n{"b":2}\r\n')), 2)
  })

  test('is rejected before anything is sent, with the numbers of the first lines that are no JSON', async () => {
    const text = ['{}', '', ...Array.from({ length: 7 }, () => '{"a"')].join('\n')
    const error = await countRequests(fileOf(text)).catch(String)
    const lines = String(error).split('\n')
    assert.match(lines[0] ?? '', /batch\.jsonl has lines that are no JSON\. Nothing was sent\.$/)
    assert.match(lines[1] ?? '', /^Line 3: /)
    assert.doesNotMatch(String(error), /line 1|column/)
    assert.equal(lines.length, 7)
    assert.equal(lines.at(-1), '2 more lines like that')
  })

  for (const [title, text, message] of [
    ['nothing', '\n \n', /has no line/],
    ['a JSON array', ' [{}]', /one a line, got a JSON array/],
    ['a byte order mark', '\u{feff}{}', /without a byte order mark/],
  ] as const)
    test(`is rejected with ${title}`, async () => {
      await assert.rejects(countRequests(fileOf(text)), message)
    })

  test('gives the lines that were rejected, of the file that the batch was made of alone', async () => {
    const file = fileOf('{"a":1}\n\n{"b":2}\n{"c":3}\n')
    const picked = await pickLines(file, { places: new Set([1, 2]), total: 3 })
    assert.equal(await picked.text(), '{"b":2}\n{"c":3}\n')
    assert.equal(picked.name, 'rejected-batch.jsonl')
    const again = await pickLines(picked, { places: new Set([0]), total: 2 })
    assert.equal(again.name, 'rejected-batch.jsonl')
    await assert.rejects(
      pickLines(file, { places: new Set([1]), total: 4 }),
      /has 3 requests, and the batch 4 requests/,
    )
  })
})

test('lines with one error are one line with the others, at the place of the first', () => {
  const error = (message: string) => ({ code: 'validation_failed', message })
  const lines = [
    { index: 1, state: 'rejected', error: error('too long, got "a, b"') },
    { index: 2, state: 'failed', error: error('gone'), task_id: 'a' },
    { index: 4, state: 'rejected', error: error('too long, got "c"') },
    { index: 5, state: 'failed', error: error('too long') },
  ] as Parameters<typeof foldLines>[0]
  const folded = foldLines(lines).map(({ index, others = [] }) => [
    index,
    ...others.map((other) => other.index),
  ])
  assert.deepEqual(folded, [[1, 4], [2], [5]])
})

describe('bars of usage', () => {
  const dayOf = (group: string, done: number, credits: number) =>
    ({ group, tasks: { done, failed: 1, cancelled: 0 }, credits, engine_seconds: 90 }) as never
  const usage = {
    from: '2026-01-28',
    to: '2026-02-10',
    groups: [dayOf('2026-01-29', 2, 1500), dayOf('2026-02-04', 4, 20)],
  }
  const bars = (step: 'day' | 'week' | 'month', measure: 'tasks' | 'credits' | 'seconds') =>
    makeBars(usage, { step, measure })

  test('are one for each day, also for those without tasks', () => {
    const days = bars('day', 'tasks')
    assert.equal(days.length, 14)
    assert.deepEqual(days.slice(0, 2), [
      { label: 'Jan 28', value: 0, text: '0' },
      { label: 'Jan 29', value: 3, text: '3' },
    ])
  })

  test('sum weeks and months, in the words of what they show', () => {
    assert.deepEqual(bars('week', 'tasks'), [
      { label: 'Jan 28', value: 3, text: '3' },
      { label: 'Feb 4', value: 5, text: '5' },
    ])
    assert.deepEqual(bars('month', 'credits'), [
      { label: 'Jan', value: 1500, text: '1.5K' },
      { label: 'Feb', value: 20, text: '20' },
    ])
    assert.equal(bars('month', 'seconds')[0]?.text, '1 min 30 s')
  })
})
