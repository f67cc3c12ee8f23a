import { cpSync, mkdirSync } from 'node:fs'
import { basename, join } from 'node:path'

import { ROOT } from '../../src/local/root.ts'
import { folderOf, install, makeOnce } from '../../tools/python.ts'

export const HERE = join(ROOT, 'test/contract')

/** The folder of the TypeScript client, with its packages as of a date: generator, compiler and linters. */
export const installNode = async (): Promise<string> => {
  const pins = ['package.json', '.npmrc'].map((name) => join(HERE, 'clients', name))
  const folder = folderOf('contract-node', ...pins)
  await makeOnce(folder, async () => {
    mkdirSync(folder, { recursive: true })
    for (const path of pins) cpSync(path, join(folder, basename(path)))
    await install('npm', ['install'], folder)
  })
  return folder
}
