interface Coded {
  code: string
}

const codeOf = (error: unknown): string =>
  typeof error === 'object' && error !== null && typeof (error as Coded).code === 'string'
    ? (error as Coded).code
    : ''

/** Codes of postgres.js and of the socket: the server cannot be reached. */
const CONNECTION_CODES = new Set([
  'CONNECTION_CLOSED',
  'CONNECTION_ENDED',
  'CONNECTION_DESTROYED',
  'CONNECT_TIMEOUT',
  'ECONNREFUSED',
  'ECONNRESET',
  'EPIPE',
  'ENOTFOUND',
  'ETIMEDOUT',
  'ENOENT',
])

/**
 * SQLSTATE classes: the server is there but cannot serve now (shutdown, no space, too many connections, read-only, locked,
 * cancelled), or does not let this service in (role, password, database absent or closed).
 */
const UNAVAILABLE = /^(08...|28...|3D000|53...|55000|57P..|58...|25006|55P03|57014)$/

export const isUnavailable = (error: unknown): boolean =>
  CONNECTION_CODES.has(codeOf(error)) ||
  isTlsFailure(error) ||
  UNAVAILABLE.test(codeOf(error)) ||
  UNIT_CODES.has(codeOf(error))

/** A session that takes no writes was asked for one. */
export const isReadOnly = (error: unknown): boolean => codeOf(error) === '25006'

/** A certificate is not accepted, or TLS does not come about: no connection was there. */
export const isTlsFailure = (error: unknown): boolean =>
  /CERT|SELF_SIGNED|UNABLE_TO|^(ERR_(SSL|TLS)|EPROTO)/.test(codeOf(error))

/** A unit of work turns such an error into one of these. */
const UNIT_CODES = new Set(['unavailable', 'outcome_unknown'])

/** Serialisation failure or deadlock: the same transaction may succeed when tried again. */
export const isRetryable = (error: unknown): boolean => /^(40001|40P01)$/.test(codeOf(error))

/** The connection broke, so nobody knows whether a COMMIT took effect. */
export const isUnknownOutcome = (error: unknown): boolean =>
  CONNECTION_CODES.has(codeOf(error)) || /^(08...|57P0[123])$/.test(codeOf(error))

/** The connection of this error is closed, or the server is closing it. */
export const endsConnection = (error: unknown): boolean =>
  CONNECTION_CODES.has(codeOf(error)) ||
  ['FATAL', 'PANIC'].includes(String((error as { severity?: unknown } | null)?.severity))

/** A lock was not to be had in time, or the wait for it was a deadlock. */
export const isLocked = (error: unknown): boolean => /^(55P03|40P01)$/.test(codeOf(error))
