import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { ERROR_CODES, type ErrorCodeName } from '../../../src/platform/domain/errors.ts'
import type { Issue } from '../../../src/platform/domain/validate.ts'
import {
  VideoReason,
  errorReason,
  issueReason,
  videoDetails,
} from '../../../src/tasks/domain/video/video-reason.ts'

const issue = (field: string, code: Issue['code'] = 'validation_failed'): Issue => ({
  field,
  code,
  message: `${field} is wrong`,
})

const rejected = (code: ErrorCodeName, issues: Issue[], given?: unknown) => {
  const details = issues.map(({ message }) => message)
  const [first] = issues
  const issue = first && given !== undefined ? { ...first, given } : undefined
  return videoDetails({ code, status: 400, message: 'x', details, issue })
}

describe('the reason word of a rejected request', () => {
  test('the reason word goes by the first issue when members break rules', () => {
    const given = { images: ['a', 'b'], duration: 99, 'pager.page': 5000, states: ['x'] }
    const cases: [string, string][] = [
      ['/model', 'FieldLacking'],
      ['/images', 'FieldItemCountOutOfRange'],
      ['/images/0', 'FieldInvalid'],
      ['/duration', 'FieldInvalid'],
      ['?task_ids', 'FieldLacking'],
      ['?pager.page', 'FieldInvalid'],
      ['?states/0', 'FieldInvalid'],
    ]
    for (const [field, word] of cases) assert.equal(issueReason(issue(field), given), word, field)
  })

  test('the reason word comes before the issues', () => {
    const issues = [issue('/model'), issue('/zzz')]
    assert.deepEqual(rejected('validation_failed', issues, {}), [
      'FieldLacking',
      '/model is wrong',
      '/zzz is wrong',
    ])
  })

  test('is FieldInvalid when a list is no list or stands for a value, and FieldLacking for null', () => {
    assert.equal(issueReason(issue('/duration'), { duration: [5] }), 'FieldInvalid')
    assert.equal(issueReason(issue('/images/0'), { images: [['a']] }), 'FieldInvalid')
    assert.equal(issueReason(issue('/images'), { images: 'a' }), 'FieldInvalid')
    assert.equal(issueReason(issue('/model'), { model: null }), 'FieldLacking')
  })

  test('the reason word is FieldInvalid when a media issue comes first among others', () => {
    const given = { images: ['a'], duration: 99 }
    assert.equal(issueReason(issue('/images/0', 'image_invalid'), given), 'FieldInvalid')
  })

  test('the reason word goes by the code when all issues have that one', () => {
    const words = {
      incompatible_fields: 'FieldUnwanted',
      url_refused: 'FieldInvalid',
      image_invalid: 'ImageFormatInvalid',
      pixel_limit: 'ImageSizeInvalid',
    } as const
    for (const [code, word] of Object.entries(words)) {
      const issues = [issue('/images/0', code as Issue['code'])]
      assert.deepEqual(rejected(code as Issue['code'], issues), [word, '/images/0 is wrong'])
    }
  })
})

describe('the reason word of any other error', () => {
  test('goes by code and status', () => {
    const rows = `
      400 json_invalid json_too_deep body_required idempotency_key_invalid cannot_cancel BadRequest
      401 unauthorized Unauthorized
      402 insufficient_credits CreditInsufficient
      404 task_not_found TaskNotFound
      404 not_found NotFound
      405 method_not_allowed BadRequest
      408 request_timeout BadRequest
      409 idempotency_in_flight OperationInProcess
      413 body_too_large PageSizeOutOfRange
      415 unsupported_media_type unsupported_encoding BadRequest
      422 idempotency_mismatch FieldInvalid
      429 rate_limited TooManyRequests
      500 internal_error InternalServiceFailure
      503 unavailable outcome_unknown auth_unavailable draining InternalServiceFailure
      503 busy SystemThrottling`
    for (const row of rows.trim().split('\n')) {
      const [status, ...names] = row.trim().split(' ')
      const word = names.pop()
      for (const code of names)
        assert.equal(errorReason({ code, status: Number(status) }), word, code)
    }
  })

  test('is there for every code of the catalogue', () => {
    const words: readonly string[] = VideoReason.enum
    for (const [code, { status }] of Object.entries(ERROR_CODES))
      assert.ok(words.includes(errorReason({ code, status })), code)
  })

  test('is followed by the message', () => {
    const message = 'task state is processing, can not cancel'
    const details = videoDetails({ code: 'cannot_cancel', status: 400, message })
    assert.deepEqual(details, ['BadRequest', message])
  })
})
