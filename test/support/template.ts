/** Database that every test's own is a copy of. */
export const TEMPLATE = 'kiln_template'

/** A pool that makes and drops databases, and waits for a server that is busy with those of other tests. */
export const ADMIN = { pool: 1, name: 'kiln test', statementTimeoutMs: 0, waitMs: 30_000 }
