/** Runs one of our entries, compiled anew where its sources have changed: `node tools/run.mjs src/migrate.ts [argument…]`. */
import { pathToFileURL } from 'node:url'

import { compileEntry } from './compile.mjs'

const [, , source, ...rest] = process.argv
const path = await compileEntry(source)
process.argv = [process.argv[0], path, ...rest]
await import(pathToFileURL(path).href)
