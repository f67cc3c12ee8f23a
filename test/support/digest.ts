import { createHash } from 'node:crypto'

/** SHA-256 in lower-case hex. */
export const sha256Of = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
