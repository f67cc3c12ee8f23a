/** Summaries are limited to 400 bytes; an owner may be 255 characters. */
const OWNER_SHOWN = 60

/** What an operator reads first of a task: "relight 1024×768 for alice". */
export const summarise = (what: string, owner: string): string =>
  `${what} for ${[...owner].slice(0, OWNER_SHOWN).join('')}`
