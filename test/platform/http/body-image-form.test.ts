import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { findImageForm } from '../../../src/platform/json-body/text.ts'

describe('form of an image text', () => {
  for (const [text, expected] of [
    ['https://example.com/a.png', { form: 'url' }],
    ['HTTPS://example.com', { form: 'url' }],
    ['file:/etc/passwd', { form: 'url' }],
    ['a:', { form: 'url' }],
    ['data:image/png;base64,QUJD', { form: 'base64', rest: 'QUJD' }],
    ['DATA:;BASE64,QUJD', { form: 'base64', rest: 'QUJD' }],
    ['data:image/png;charset=x; base64,', { form: 'base64', rest: '' }],
    ['data:text/html;base64,QUJD', { form: 'base64', rest: 'QUJD' }],
    ['QUJD', { form: 'base64', rest: 'QUJD' }],
    ['/9j/4AAQ', { form: 'base64', rest: '/9j/4AAQ' }],
    [' \n https://example.com', { form: 'url' }],
    [' QUJD', { form: 'base64', rest: 'QUJD' }],
    ['9:', { form: 'base64', rest: '9:' }],
  ] as const) {
    test(`is ${expected.form} for ${JSON.stringify(text)}`, () => {
      assert.deepEqual(findImageForm(text, true), expected)
    })
  }

  for (const text of ['data:image/png,raw', 'data:,x', 'data:image/png;base64', 'data:;base64x,']) {
    test(`is rejected for ${text}`, () => {
      assert.equal(findImageForm(text, true)?.form, 'rejected')
    })
  }

  test('stays open while the beginning may be a scheme or a data URI', () => {
    assert.equal(findImageForm(' ', false), undefined)
    assert.equal(findImageForm(' htt', false), undefined)
    assert.equal(findImageForm('data:image/png;base64', false), undefined)
  })

  test('is decided after 64 letters, and after 1,024 characters of a data URI without a comma', () => {
    assert.equal(findImageForm('a'.repeat(64), false)?.form, 'base64')
    assert.equal(findImageForm(' '.repeat(1024), false)?.form, 'base64')
    assert.equal(findImageForm(`data:${'x'.repeat(1024)}`, false)?.form, 'rejected')
  })
})
