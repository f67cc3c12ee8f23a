import { basename, dirname, resolve } from 'node:path'

/** Folder of the code that runs: the checkout's `.built/`, as tools/compile.mjs has filled it. */
const CODE = resolve(import.meta.dirname, '../..')

/** The checkout: samples, documents and tools are found from it, and children run in it. */
export const ROOT = basename(CODE) === '.built' ? dirname(CODE) : CODE

/** Path of what runs for a source file of ours, named below the checkout. */
export const codePath = (source: string): string => resolve(CODE, source.replace(/\.ts$/, '.js'))
