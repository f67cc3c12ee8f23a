/**
 * Milliseconds that a test gives to whatever must happen (a response, a lock, a connection, a statement, a start) before
 * it fails, because it would never end. Every deadline of a test is this one, or a multiple of it; none decides what a
 * test asserts. The runner measures how many times slower than the machine of its author this one is, and sets the factor.
 */
export const PATIENCE_MS = Math.ceil(60_000 * Number(process.env['TEST_SLOWNESS'] ?? 1))
