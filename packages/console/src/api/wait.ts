import { isPassing } from '../../../client/src/lib/errors.ts'

/** Milliseconds before the next attempt of what passes: 1, 2, 4, 8, then 15 s, or what the service asks for. */
export const waitMs = (failures: number, error?: unknown): number => {
  const asked = isPassing(error) ? (error.retryAfterSeconds ?? 0) * 1000 : 0
  return Math.max(asked, Math.min(15_000, 1000 * 2 ** failures))
}
