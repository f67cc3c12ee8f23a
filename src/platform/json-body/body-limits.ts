/** Limits of the size of a JSON body and of the time to read it. */
export interface BodyLimits {
  /** Bytes on the wire. */
  maxBytes: number
  /** Milliseconds until the last byte must have come. */
  deadlineMs: number
  /** UTF-8 bytes of keys, numbers and strings that stay in memory, inline images apart. */
  memoryBytes: number
  /** Members of objects and items of arrays, all together; 100,000 unless the route needs more. */
  maxMembers?: number
  /** Members that take an image: JSON Pointers in which the step `*` stands for any. */
  images?: readonly string[]
  /** Inline images in one body, 16 unless given; of those beyond only their issue is kept. */
  maxImages?: number
}

/** Limits of a JSON body that holds no media. */
export const SMALL_BODY = {
  maxBytes: 1_048_576,
  memoryBytes: 1_048_576,
  deadlineMs: 15_000,
} as const satisfies BodyLimits
