import { fileURLToPath } from 'node:url'

/** The checkout: entries, samples and tools are found from it, and children run in it. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))
