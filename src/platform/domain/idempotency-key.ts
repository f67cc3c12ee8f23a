/** Pattern of an Idempotency-Key that is not quoted. */
export const IDEMPOTENCY_KEY = String.raw`[\x21\x23-\x7e][\x21-\x7e]{0,254}`
