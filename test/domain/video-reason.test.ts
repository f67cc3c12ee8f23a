import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { ERROR_CODES } from '../../src/domain/shared/errors.ts'
import type { Issue } from '../../src/domain/shared/validate.ts'
import {
  VideoReason,
  errorReason,
  issueReason,
  videoDetails,
} from '../../src/domain/video-task/video-reason.ts'

const issue = (field: string, code: Issue['code'] = 'validation_failed'): Issue => ({
  field,
  code,
  message: `${field} is wrong`,
})

const rejected = (code: string, issues: Issue[], reason?: VideoReason) =>
  videoDetails({
    code,
    status: 400,
    message: 'x',
    reason,
    details: issues.map(({ message }) => message),
  })

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
    assert.deepEqual(rejected('validation_failed', issues, 'FieldLacking'), [
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
      assert.deepEqual(rejected(code, issues), [word, '/images/0 is wrong'])
    }
  })
})

describe('the reason word of any other error', () => {
  test('goes by code and status', () => {
    const words: Record<string, [number, string]> = {
      json_invalid: [400, 'BadRequest'],
      json_too_deep: [400, 'BadRequest'],
      body_required: [400, 'BadRequest'],
      idempotency_key_invalid: [400, 'BadRequest'],
      cannot_cancel: [400, 'BadRequest'],
      unauthorized: [401, 'Unauthorized'],
      insufficient_credits: [402, 'CreditInsufficient'],
      task_not_found: [404, 'TaskNotFound'],
      not_found: [404, 'NotFound'],
      method_not_allowed: [405, 'BadRequest'],
      request_timeout: [408, 'BadRequest'],
      idempotency_in_flight: [409, 'OperationInProcess'],
      body_too_large: [413, 'PageSizeOutOfRange'],
      unsupported_media_type: [415, 'BadRequest'],
      unsupported_encoding: [415, 'BadRequest'],
      idempotency_mismatch: [422, 'FieldInvalid'],
      rate_limited: [429, 'TooManyRequests'],
      internal_error: [500, 'InternalServiceFailure'],
      unavailable: [503, 'InternalServiceFailure'],
      outcome_unknown: [503, 'InternalServiceFailure'],
      auth_unavailable: [503, 'InternalServiceFailure'],
      draining: [503, 'InternalServiceFailure'],
      busy: [503, 'SystemThrottling'],
    }
    for (const [code, [status, word]] of Object.entries(words))
      assert.equal(errorReason({ code, status }), word, code)
  })

  test('is there for every code of the catalogue', () => {
    const words: readonly string[] = VideoReason.enum
    for (const [code, { status }] of Object.entries(ERROR_CODES))
      assert.ok(words.includes(errorReason({ code, status })), code)
  })

  test('is followed by the message', () => {
    const message = 'task state is processing, can not cancel'
    assert.deepEqual(videoDetails({ code: 'cannot_cancel', status: 400, message }), [
      'BadRequest',
      message,
    ])
  })
})
