/**
 * Runs the script of a service by the code that V8 has kept of it: without that, a start spends a quarter of a second on
 * reading text. V8 rejects what another version of it has kept, and then reads the text.
 */
import { existsSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { Script, constants } from 'node:vm'

/** Path at which the code of a script is kept. */
export const codeOf = (path) => path.replace(/\.cjs$/, '.code')

const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER

export const compileScript = (path) =>
  new Script(readFileSync(path, 'utf8'), {
    filename: path,
    importModuleDynamically,
    ...(existsSync(codeOf(path)) && { cachedData: readFileSync(codeOf(path)) }),
  })

/** Node 26 says with the first `import()` of a script that this is experimental, in the log of every process. */
const importWithoutWarning = () => {
  const { emitWarning } = process
  process.emitWarning = () => {}
  try {
    void new Script('import("node:vm")', { importModuleDynamically }).runInThisContext()
  } finally {
    process.emitWarning = emitWarning
  }
}

/** Runs all modules of a script; returns what its entry exports. */
export const run = (script) => {
  importWithoutWarning()
  const module = { exports: {} }
  const require = createRequire(new URL('../package.json', import.meta.url))
  script.runInThisContext()(module.exports, require, module)
  return module.exports
}

export const load = (path) => run(compileScript(path))
