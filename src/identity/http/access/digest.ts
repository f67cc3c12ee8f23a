import { createHash } from 'node:crypto'

/** SHA-256 as lower-case hex: how credentials are stored and found. */
export const digest = (text: string): string => createHash('sha256').update(text).digest('hex')
