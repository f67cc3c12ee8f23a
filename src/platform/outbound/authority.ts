import { listCauses } from '../domain/causes.ts'

/** Codes of OpenSSL for a chain that ends in a certificate which nobody trusts. */
export const UNKNOWN_AUTHORITY = /SELF_SIGNED|UNABLE_TO/

/** Says what an operator does about a server whose authority is unknown here; undefined for any other error. */
export const adviseAuthority = (error: unknown): string | undefined =>
  UNKNOWN_AUTHORITY.test(listCauses(error).at(-1)?.code ?? '')
    ? 'its certificate is signed by no authority that Node knows: name the file of yours in NODE_EXTRA_CA_CERTS'
    : undefined
