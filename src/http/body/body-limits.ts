/** Limits of a JSON body that holds no media. */
export const SMALL_BODY = {
  maxBytes: 1_048_576,
  heldBytes: 1_048_576,
  deadlineMs: 15_000,
} as const
