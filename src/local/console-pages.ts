import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { codePath, ROOT } from './root.ts'

/** Makes the console again where its sources have changed: two seconds of a processor. */
export const buildConsolePages = async (): Promise<void> => {
  if (!existsSync(join(ROOT, 'packages/console'))) return
  const tool = codePath('tools/console/build.ts')
  await promisify(execFile)(process.execPath, [tool, join(ROOT, '.built/console')], { cwd: ROOT })
}
