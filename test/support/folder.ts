import { mkdtempSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after } from 'node:test'
import type { TestContext } from 'node:test'

/** Makes a folder for all tests of a file or a suite, which is gone after the last. */
export const useFolder = (stop?: () => unknown): string => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-folder-'))
  after(async () => {
    await stop?.()
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
  })
  return folder
}

/** Makes a folder with files by their paths, which is gone after the test. */
export const makeFolder = async (
  context: TestContext,
  files: Record<string, string> = {},
): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-folder-'))
  context.after(() => rm(folder, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), text)
  }
  return folder
}
