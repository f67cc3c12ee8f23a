/**
 * Sentences that show the owner of a server why it could not be reached. They name what that server showed to anybody,
 * never an address.
 */

/** Says why a handshake failed, by the code of OpenSSL or Node; undefined for one that says nothing to its owner. */
export const describeTlsFailure = (cause: unknown): string | undefined => {
  const code = codeOf(cause)
  if (code === undefined) return undefined
  return TLS_FAILURES[code] ?? (/^(ERR_SSL_|EPROTO)/.test(code) ? PROTOCOL : undefined)
}

const PROTOCOL = 'the server does not speak TLS 1.2 or 1.3 at this port'
const CHAIN =
  'the certificate chain is incomplete or ends in an unknown authority; send the intermediate certificates, too'
const SELF_SIGNED = 'the certificate is self-signed'

const TLS_FAILURES: Partial<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'the certificate has expired',
  CERT_NOT_YET_VALID: 'the certificate is not valid yet',
  CERT_REVOKED: 'the certificate is revoked',
  DEPTH_ZERO_SELF_SIGNED_CERT: SELF_SIGNED,
  SELF_SIGNED_CERT_IN_CHAIN: SELF_SIGNED,
  ERR_TLS_CERT_ALTNAME_INVALID: 'the certificate is not for this host name',
  UNABLE_TO_GET_ISSUER_CERT: CHAIN,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: CHAIN,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: CHAIN,
}

/** Says why no connection came about. */
export const describeConnectFailure = (cause: unknown): string | undefined =>
  CONNECT_FAILURES[codeOf(cause) ?? '']

const CONNECT_FAILURES: Partial<Record<string, string>> = {
  ECONNREFUSED: 'the port is closed',
  EHOSTUNREACH: 'the host is unreachable',
  ENETUNREACH: 'the network is unreachable',
}

/** Says why a name has no address. */
export const describeDnsFailure = (cause: unknown): string | undefined =>
  DNS_FAILURES[codeOf(cause) ?? '']

const DNS_FAILURES: Partial<Record<string, string>> = {
  ENOTFOUND: 'there is no such name',
  ENODATA: 'the name has no address',
  ESERVFAIL: 'its name servers fail',
  ETIMEOUT: 'its name servers do not respond',
}

/** Several addresses fail as one AggregateError; its first error stands for all. */
const codeOf = (cause: unknown): string | undefined => {
  if (typeof cause !== 'object' || cause === null) return undefined
  if ('code' in cause && typeof cause.code === 'string') return cause.code
  return 'errors' in cause && Array.isArray(cause.errors) ? codeOf(cause.errors[0]) : undefined
}
