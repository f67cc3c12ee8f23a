/** Keeps what V8 makes of a script once its modules have run: `node tools/keep-code.mjs <path>`. */
import { renameSync, writeFileSync } from 'node:fs'

import { codeOf, compileScript, run } from './load.mjs'

const [, , path] = process.argv
const script = compileScript(path)
run(script)
const unfinished = `${codeOf(path)}.${process.pid}`
writeFileSync(unfinished, script.createCachedData())
renameSync(unfinished, codeOf(path))
