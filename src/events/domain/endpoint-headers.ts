import { Type } from 'typebox'

import { makeIssue, type Issue } from '../../platform/domain/validate.ts'

const HEADERS_MAX = 10
const VALUE_MAX = 2048
const NAME_FORM = /^[!#$%&'*+.^_`|~\dA-Za-z-]{1,64}$/

/** Headers that Kiln, HTTP or the trace of a task sets. */
const RESERVED = new Set(
  (
    'host user-agent connection keep-alive te trailer transfer-encoding upgrade expect date ' +
    'accept-encoding traceparent tracestate baggage'
  ).split(' '),
)
const RESERVED_START = /^(webhook-|content-|proxy-|:)/

const IN_WORDS = `up to ${HEADERS_MAX} headers by name`

/** Headers that a subscriber gives. */
export const OwnHeaders = Type.Unsafe<Record<string, string>>({
  type: 'object',
  maxProperties: HEADERS_MAX,
  additionalProperties: {
    type: 'string',
    minLength: 1,
    maxLength: VALUE_MAX,
    pattern: '^[\\x21-\\x7e]([\\x20-\\x7e]*[\\x21-\\x7e])?$',
    writeOnly: true,
    'x-expectation': `a text of 1 to ${VALUE_MAX} visible ASCII characters`,
  },
  writeOnly: true,
  description: `Headers of every request, ${IN_WORDS}, such as a token of a gateway. They take the place of all before, and a URL of another host removes them. Values are never shown again.`,
  'x-expectation': `an object of ${IN_WORDS}`,
})

/** Validates the names of own headers: one that has a meaning to Kiln or HTTP is rejected. */
export const validateOwnHeaders = (given: unknown): Issue[] =>
  Object.keys(typeof given === 'object' ? (given ?? {}) : {}).flatMap((name) => {
    const field = `/headers/${name}`
    if (!NAME_FORM.test(name)) return [makeIssue('/headers', 'must have names of HTTP headers')]
    const lower = name.toLowerCase()
    return RESERVED.has(lower) || RESERVED_START.test(lower)
      ? [makeIssue(field, 'is reserved: Kiln or HTTP sets it')]
      : []
  })

/** Writes the names in small letters, which say the same. */
export const normalizeHeaders = (given: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]))
