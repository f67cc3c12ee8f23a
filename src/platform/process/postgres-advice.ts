import { listCauses } from '../domain/causes.ts'
import { UNKNOWN_AUTHORITY } from '../outbound/authority.ts'
import { describeTlsFailure } from '../outbound/failure-detail.ts'
import { isTlsFailure, isUnavailable } from '../db/sqlstate.ts'
import { OperatorError } from './operator-error.ts'

/** Returns what an operator does about PostgreSQL that is away or lets nobody in; undefined for any other error. */
export const advisePostgres = (error: unknown, setting: string): string | undefined => {
  const { code = '', message = '' } = listCauses(error).at(-1) ?? {}
  if (code.startsWith('28')) return `${message}: ${adviseRejection(message)} in ${setting}`
  if (code === '3D000') return `${message}: create it, or correct ${setting}`
  if (code === '53300')
    return `PostgreSQL has no connection left (${message}): raise max_connections, or lower DATABASE_POOL`
  if (isTlsFailure({ code })) return adviseTls({ code, message }, setting)
  // Of a server that responds otherwise than by TLS nothing else is known.
  if (/before secure TLS connection/.test(message))
    return `PostgreSQL speaks no TLS there: set ssl = on in its configuration, or sslmode to disable in ${setting}`
  // The alert that rejects a certificate may come later than the end of the connection.
  if (/^write (ECONNRESET|EPIPE)/.test(message))
    return `PostgreSQL closes the connection (${message}): look at its log, which says whether it rejects the certificate in sslcert of ${setting}`
  const isResponse = /\d/.test(code)
  return isUnavailable({ code }) && !isResponse
    ? `PostgreSQL does not respond (${message}): start PostgreSQL, or correct ${setting}`
    : undefined
}

/** Throws what an operator does about PostgreSQL where that is known, else the error as it is. */
export const throwAdvised =
  (setting: string) =>
  (error: unknown): never => {
    const known = error instanceof OperatorError ? undefined : advisePostgres(error, setting)
    throw known === undefined ? error : new OperatorError(known)
  }

const adviseRejection = (message: string): string => {
  if (/no encryption|SSL off/.test(message)) return 'set sslmode=verify-full'
  return /certificate/.test(message) ? 'correct sslcert and sslkey' : 'correct user or password'
}

const adviseTls = (
  { code, message }: { code: string; message: string },
  setting: string,
): string => {
  if (/ALERT/.test(code))
    return `PostgreSQL rejects the certificate in sslcert (${message}): renew it, or correct sslcert in ${setting}`
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return `${message}: have ${setting} name a host that the certificate of PostgreSQL is for`
  if (UNKNOWN_AUTHORITY.test(code))
    return `the certificate of PostgreSQL is not signed by the authority in sslrootcert of ${setting}, or without that by none that Node knows: correct sslrootcert, or name the file of the authority in NODE_EXTRA_CA_CERTS`
  return `${describeTlsFailure({ code }) ?? message}: have that of PostgreSQL renewed, or check this machine's clock`
}
