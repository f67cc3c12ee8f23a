/** Owns what is made without a credential; no user has this id. */
export const ANONYMOUS = 'anonymous'

/**
 * True when a user id is reserved: for the owner of tasks without a credential, their accounts, the accounts and secrets
 * of endpoints, and operators in the audit log.
 */
export const isReservedUser = (id: string): boolean =>
  id === ANONYMOUS ||
  id.startsWith(ANONYMOUS_ACCOUNT) ||
  id.startsWith(ENDPOINT_ACCOUNT) ||
  id.startsWith(OPERATOR)

/** An account without a credential: this, and a digest of the client's network. */
export const ANONYMOUS_ACCOUNT = `${ANONYMOUS}:`

/** Actor of a command of `kiln operate` in the audit log: this, and the name of the system's user. */
export const OPERATOR = 'operator:'

/** Owns the webhook subscriptions of platform admins. */
export const PLATFORM_ACCOUNT = 'endpoint:/platform'

/** An account to which deliveries to endpoints of a publisher count: this, and the publisher's id. */
export const ENDPOINT_ACCOUNT = 'endpoint:'
