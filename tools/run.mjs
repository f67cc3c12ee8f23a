/** Runs one of our entries, compiled anew where its sources have changed: `node tools/run.mjs src/migrate.ts [argument…]`. */
import { pathToFileURL } from 'node:url'

import { builtPath, compile } from './compile.mjs'

const [, , source, ...rest] = process.argv
await compile()
process.argv = [process.argv[0], builtPath(source), ...rest]
await import(pathToFileURL(builtPath(source)).href)
