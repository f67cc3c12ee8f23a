/** Owns what is made without a credential; no user has this id. */
export const ANONYMOUS = 'anonymous'

/**
 * Whether a user id is kept: for those without a credential the owner of their tasks and their accounts, and the
 * accounts and secrets of endpoints.
 */
export const isReservedUser = (id: string): boolean =>
  id === ANONYMOUS || id.startsWith(ANONYMOUS_ACCOUNT) || id.startsWith(ENDPOINT_ACCOUNT)

/** An account without a credential: this, and a digest of the client's network. */
export const ANONYMOUS_ACCOUNT = `${ANONYMOUS}:`

/** Whom what endpoints of a publisher are told counts for: this, and the publisher's id. */
export const ENDPOINT_ACCOUNT = 'endpoint:'
