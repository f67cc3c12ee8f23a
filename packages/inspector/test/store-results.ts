/** Stores what extractor and scanner make of the synthetic packs and cases, under their present versions. */
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { EXTRACTOR_VERSION, SCANNER_VERSION } from '../src/versions.ts'
import { ROOT } from '../../../src/local/root.ts'
import { readAllResults } from './results.ts'

const versions = { extractorVersion: EXTRACTOR_VERSION, scannerVersion: SCANNER_VERSION }
const results = { ...versions, ...readAllResults() }
await writeFile(
  join(ROOT, 'packages/inspector/test/results.json'),
  `${JSON.stringify(results, undefined, 2)}\n`,
)
