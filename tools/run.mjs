/**
 * Runs one of our entries, compiled again where its sources have changed: `node tools/run.mjs src/migrate.ts [argument…]`.
 * A script of npm installs the packages first. What is started by its path runs with what its starter has.
 */
import { pathToFileURL } from 'node:url'

if (process.env.npm_lifecycle_event !== undefined) await import('./install.mjs')
// Needs the packages.
const { compileEntry } = await import('./compile.mjs')

const [, , source, ...rest] = process.argv
const path = await compileEntry(source)
process.argv = [process.argv[0], path, ...rest]
await import(pathToFileURL(path).href)
