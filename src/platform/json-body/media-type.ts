import type { IncomingHttpHeaders } from 'node:http'

import { apiError, shown } from '../domain/errors.ts'

/**
 * Rejects what is not plain JSON in UTF-8.
 *
 * @throws 415 `unsupported_encoding` for any Content-Encoding but `identity`; 415 `unsupported_media_type` for any other
 * type, and for a charset that is not UTF-8.
 */
export const requireJson = (headers: IncomingHttpHeaders): void =>
  requireType(headers, isJson, 'application/json (charset utf-8)')

/**
 * Rejects what is not of a type, or is packed: a reader that unpacks is a reader for bombs.
 *
 * @param expected the types in words
 * @throws 415 `unsupported_encoding` or `unsupported_media_type`
 */
export const requireType = (
  headers: IncomingHttpHeaders,
  isOf: (contentType: string) => boolean,
  expected: string,
): void => {
  const encoding = headers['content-encoding']?.trim().toLowerCase() ?? 'identity'
  if (encoding !== 'identity')
    throw apiError(
      'unsupported_encoding',
      `Content-Encoding must be absent or identity, not ${shown(encoding)}.`,
    )
  const type = headers['content-type']
  if (type === undefined || !isOf(type))
    throw apiError(
      'unsupported_media_type',
      `Content-Type must be ${expected}, not ${shown(type)}.`,
    )
}

/** True when the message has a body at all, as its framing says: an empty chunked body counts as one. */
export const hasBody = (headers: IncomingHttpHeaders): boolean =>
  headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0

const isJson = (contentType: string): boolean => {
  const [type, ...parameters] = contentType.split(';').map((part) => part.trim().toLowerCase())
  return type === 'application/json' && parameters.every(isHarmless)
}

/** Media type parameters other than charset change nothing about JSON; a charset must be the only one JSON has. */
const isHarmless = (parameter: string): boolean =>
  !parameter.startsWith('charset') || /^charset="?utf-?8"?$/.test(parameter)
