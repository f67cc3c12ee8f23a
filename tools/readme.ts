/**
 * What `npm run docs` runs: writes the parts of README.md that are made from the source (between their markers) and the
 * whole of `.env.example`.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { makeEndpoints } from './docs/endpoints.ts'
import { makeErrorTable, makeFaultTable, makeVideoFaultTable } from './docs/errors.ts'
import { replacePart } from './docs/markers.ts'
import { makePriceTable } from './docs/prices.ts'
import { makeEnvExample, makeSettingsTable } from './docs/settings.ts'

const ROOT = join(import.meta.dirname, '..')

const PARTS: Record<string, () => string> = {
  endpoints: makeEndpoints,
  errors: makeErrorTable,
  'task errors': makeFaultTable,
  'video models': makePriceTable,
  'video task errors': makeVideoFaultTable,
  settings: makeSettingsTable,
}

/** The files that are made, wholly or in part, with their text as it should be now. */
export const makeDocuments = async (): Promise<Record<string, string>> => {
  let readme = await readFile(join(ROOT, 'README.md'), 'utf8')
  for (const [name, make] of Object.entries(PARTS)) readme = replacePart(readme, name, make())
  return { 'README.md': readme, '.env.example': makeEnvExample() }
}

if (process.argv[1] === import.meta.filename)
  for (const [name, text] of Object.entries(await makeDocuments()))
    await writeFile(join(ROOT, name), text)
