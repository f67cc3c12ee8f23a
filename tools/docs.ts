/**
 * Writes `.env.example` (`npm run docs`), the pages of docs/reference, the pictures of areas and states, the table in
 * docs/client.md, and the version of package.json wherever it is repeated.
 * `-- --pictures` renews the pictures of the console in docs/pictures instead, and `-- --pictures temporal` those of the
 * Temporal UI; both need Chromium.
 * `-- --dashboard <METRICS_PORT> <seconds>` draws the dashboard of a service that runs; it needs Chromium and Prometheus.
 * Given the output of `npm run bench` (a file, or - for standard input), it stores the results in it first; given the
 * outcomes of `npm run test:system -- faults` (`.built/faults/outcomes.jsonl`), those.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'

import { ROOT } from '../src/local/root.ts'
import { makeClientTable } from './docs/clients.ts'
import { makeEndpointsPage } from './docs/endpoints.ts'
import { makeErrorsPage } from './docs/errors.ts'
import { makeFieldsPage } from './docs/fields.ts'
import { OUTCOMES, mergeOutcomes } from './docs/faults.ts'
import { RESULTS, makeResultsPage, mergeResults } from './docs/results.ts'
import { SCHEMA, makeSchema } from './docs/schema.ts'
import { makeEnvExample, makeSettingsPage } from './docs/settings.ts'
import { makeUpstreamPage } from './docs/upstream.ts'
import { drawStates } from './docs/states.ts'
import { drawStructure } from './docs/structure.ts'
import { replacePart } from './docs/markdown.ts'
import { repeatVersion } from './version.ts'

const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8')

/** The files that are made, wholly or in part, with their text as it should be now. */
export const makeDocuments = async (): Promise<Record<string, string>> => ({
  '.env.example': makeEnvExample(),
  'docs/architecture.md': replacePart(
    await read('docs/architecture.md'),
    'structure',
    await drawStructure(ROOT),
  ),
  'docs/pictures/task-states.svg': drawStates(),
  'docs/client.md': replacePart(await read('docs/client.md'), 'clients', makeClientTable()),
  'docs/reference/endpoints.md': makeEndpointsPage(),
  'docs/reference/errors.md': makeErrorsPage(),
  'docs/reference/fields.md': await makeFieldsPage(ROOT),
  'docs/reference/figures.md': makeResultsPage(await read(RESULTS), await read(OUTCOMES)),
  'docs/reference/settings.md': makeSettingsPage(),
  'docs/reference/upstream.md': makeUpstreamPage(),
  ...(await repeatVersion()),
})

const write = async (path: string, content: string): Promise<void> => {
  await mkdir(dirname(join(ROOT, path)), { recursive: true })
  await writeFile(join(ROOT, path), content)
}

if (process.argv[1] === import.meta.filename) {
  const [, , log] = process.argv
  if (log === '--pictures') {
    const { takePictures } = await import('./docs/pictures.ts')
    await takePictures(process.argv[3] === 'temporal' ? 'temporal' : 'console')
  } else if (log === '--dashboard') {
    const { drawDashboard } = await import('./docs/dashboard.ts')
    await drawDashboard(Number(process.argv[3]), Number(process.argv[4]))
  } else if (log?.endsWith('.jsonl')) {
    await write(OUTCOMES, mergeOutcomes(await read(OUTCOMES), await readFile(log, 'utf8')))
  } else if (log !== undefined) {
    const output = log === '-' ? await text(process.stdin) : await readFile(log, 'utf8')
    await write(RESULTS, mergeResults(await read(RESULTS), output))
  }
  for (const [path, content] of Object.entries(await makeDocuments())) await write(path, content)
  await write(SCHEMA, await makeSchema())
}
