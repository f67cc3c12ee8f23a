import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { requireJson } from '../../../src/platform/json-body/media-type.ts'
import { rejectedWith } from './body-support.ts'

describe('media type of a body', () => {
  for (const type of [
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json; profile=x',
    'application/json;',
  ]) {
    test(`may be ${type}`, () => {
      requireJson({ 'content-type': type, 'content-encoding': 'identity' })
    })
  }

  for (const type of [
    undefined,
    '',
    'text/plain',
    'application/xml',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonp',
    'application/problem+json',
    'application/json; charset=latin1',
    'application/json; charset',
    'text/plain; application/json',
  ]) {
    test(`may not be ${type}`, () => {
      const headers = type === undefined ? {} : { 'content-type': type }
      assert.throws(() => requireJson(headers), rejectedWith('unsupported_media_type'))
    })
  }

  for (const encoding of ['gzip', 'br', 'identity, gzip', '']) {
    test(`may not come in the encoding "${encoding}"`, () => {
      const headers = { 'content-type': 'application/json', 'content-encoding': encoding }
      assert.throws(() => requireJson(headers), rejectedWith('unsupported_encoding'))
    })
  }
})
