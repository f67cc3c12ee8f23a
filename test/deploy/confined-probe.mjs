/**
 * Run with the arguments of the process that reads archives: tries what it may not do, and prints the code of each failure.
 * Argument: a file it may read, in the folder of the archives.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Worker } from 'node:worker_threads'

const archive = process.argv.at(-1)
const checkout = process.cwd()

const attempts = {
  'read the archive': () => readFileSync(archive),
  'read the settings': () => readFileSync(join(checkout, 'package.json')),
  'read the system': () => readFileSync('/etc/hostname'),
  'write beside the archive': () => writeFileSync(join(dirname(archive), 'written'), ''),
  'write the archive': () => writeFileSync(archive, ''),
  'write elsewhere': () => writeFileSync(join(checkout, 'written'), ''),
  'start a process': () => execFileSync(process.execPath, ['--version']),
  'start a thread': () => new Worker('', { eval: true }),
  'load native code': () => process.dlopen({ exports: {} }, archive),
}

const outcomes = Object.entries(attempts).map(([name, attempt]) => {
  try {
    attempt()
    return [name, 'done']
  } catch (error) {
    return [name, error.code]
  }
})
process.stdout.write(JSON.stringify(Object.fromEntries(outcomes)))
