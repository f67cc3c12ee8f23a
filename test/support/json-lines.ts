import { readFileSync } from 'node:fs'

/** The values of a file that holds one a line, as JSON. */
export const readJsonLines = (url: URL): unknown[] =>
  readFileSync(url, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line): unknown => JSON.parse(line))
