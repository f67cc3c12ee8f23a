import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import {
  validatePageToken,
  makePageToken,
  parsePageToken,
} from '../../../src/tasks/http/task/page-token.ts'

const PLACE = { createdAtUs: '1767225600123456', id: '5c0f6a52-2a9f-4a3c-9d0e-7d1b6f0c8e21' }

const encode = (text: string): string => Buffer.from(text).toString('base64url')

describe('a page token', () => {
  test('names the place it was made of, to the microsecond', () => {
    const token = makePageToken(PLACE)
    assert.match(token, /^[\w-]+$/)
    assert.deepEqual(parsePageToken(token), PLACE)
    assert.deepEqual(validatePageToken(token), [])
    const third = { ...PLACE, sequence: '3' }
    assert.deepEqual(parsePageToken(makePageToken(third)), third)
  })

  const WRONG = [
    '',
    'x',
    'é',
    encode(PLACE.id),
    encode(`-1 ${PLACE.id}`),
    encode(`1e3 ${PLACE.id}`),
    encode(`${'9'.repeat(17)} ${PLACE.id}`),
    encode(`1 ${PLACE.id} 1 1`),
    encode(`1 ${PLACE.id} x`),
    encode(`1 ${PLACE.id}'`),
    `${makePageToken(PLACE)}xxxx`,
  ]
  for (const token of WRONG)
    test(`is none when it is ${JSON.stringify(token)}`, () => {
      const [issue] = validatePageToken(token)
      assert.equal(issue?.field, '?pager.page_token')
      assert.ok(issue.message.startsWith('?pager.page_token must be a next_page_token'))
    })

  test('that is absent or no text is another rule’s', () => {
    for (const token of [undefined, 5]) assert.deepEqual(validatePageToken(token), [])
  })
})
