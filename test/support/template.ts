import { PATIENCE_MS } from './patience.ts'

/** Database that every test's own is a copy of. */
export const TEMPLATE = 'kiln_template'

/** A pool that waits for a server, and for a process, that are busy with other tests. */
export const PATIENT = { pool: 1, name: 'kiln test', statementTimeoutMs: 0, waitMs: PATIENCE_MS }
