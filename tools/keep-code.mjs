/** Keeps what V8 makes of a script once its modules have run: `node tools/keep-code.mjs <path>`. */
import { once } from 'node:events'
import { renameSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Worker, isMainThread } from 'node:worker_threads'

import { codeOf, compileScript, run } from './load.mjs'

const [, , path] = process.argv
// The script of a thread runs in threads alone, and those of services do so, too.
if (isMainThread) await once(new Worker(fileURLToPath(import.meta.url), { argv: [path] }), 'exit')
else {
  const script = compileScript(path)
  run(script)
  const unfinished = `${codeOf(path)}.${process.pid}`
  writeFileSync(unfinished, script.createCachedData())
  renameSync(unfinished, codeOf(path))
  process.exit()
}
