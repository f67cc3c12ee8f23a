/** Owns what is made without a credential; no user has this id. */
export const ANONYMOUS = 'anonymous'

/**
 * True when a user id is reserved: for the owner of tasks without a credential, their accounts, and the accounts and
 * secrets of endpoints.
 */
export const isReservedUser = (id: string): boolean =>
  id === ANONYMOUS || id.startsWith(ANONYMOUS_ACCOUNT) || id.startsWith(ENDPOINT_ACCOUNT)

/** An account without a credential: this, and a digest of the client's network. */
export const ANONYMOUS_ACCOUNT = `${ANONYMOUS}:`

/** An account to which deliveries to endpoints of a publisher count: this, and the publisher's id. */
export const ENDPOINT_ACCOUNT = 'endpoint:'
