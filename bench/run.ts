/**
 * Runs benchmarks (`npm run bench [-- <name>…]`): each measures Kiln and its baseline alternately in one run and ends
 * with one line for each result. Without a name all are run.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { ROOT, codePath } from '../src/local/root.ts'

const names = (await readdir(join(ROOT, 'bench')))
  .filter((file) => file.endsWith('.ts') && file !== 'run.ts')
  .map((file) => file.slice(0, -3))
  .toSorted()

const chosen = process.argv.slice(2)
const unknown = chosen.filter((name) => !names.includes(name))
if (unknown.length > 0) {
  process.stderr.write(`no benchmark ${unknown.join(', ')}; there are ${names.join(', ')}\n`)
  process.exit(1)
}
for (const name of chosen.length > 0 ? chosen : names) {
  process.stdout.write(`\n== ${name}\n`)
  const bench = (await import(pathToFileURL(codePath(`bench/${name}.ts`)).href)) as {
    run(): Promise<void>
  }
  await bench.run()
}
process.exit(0)
