import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { codePath } from '../../src/local/root.ts'

const FOLDER = codePath('test/groups')

/** A process and its modules cost more than most of these files; others start processes that they kill, or a runtime. */
const SHARED = /^test\/(db|docs|domain|extraction|http)\//
const FILES = 8

/** A file that has not ended by then hangs, which must not hang the run. */
const FILE_MS = 180_000

/** Long ones first, so that none is left alone at the end. */
const RANKS = [/^test\/faults\//, /^test\/(activities|adapters|deploy|local|workflows)\//]

/** Programs for the runner: each runs some test files, one after another, each in a suite of its name. */
export const makeGroups = async (files: readonly string[]): Promise<string[]> => {
  await rm(FOLDER, { recursive: true, force: true })
  await mkdir(FOLDER, { recursive: true })
  const groups = group(files).toSorted((one, other) => rankOf(one) - rankOf(other))
  return await Promise.all(groups.map(writeGroup))
}

const rankOf = ([file = '']: readonly string[]): number => {
  const rank = RANKS.findIndex((pattern) => pattern.test(file))
  return rank === -1 ? RANKS.length : rank
}

const group = (files: readonly string[]): string[][] => {
  const groups: string[][] = []
  let last: string[] = []
  for (const file of files) {
    const joins =
      SHARED.test(file) && last.length < FILES && folderOf(last[0] ?? '') === folderOf(file)
    if (joins) last.push(file)
    else groups.push((last = [file]))
  }
  return groups
}

const folderOf = (file: string): string | undefined => file.split('/')[1]

const writeGroup = async (files: readonly string[], index: number): Promise<string> => {
  const path = join(FOLDER, `${index}.js`)
  const suites = files.map(
    (file) =>
      `describe(${JSON.stringify(file)}, { timeout: ${FILE_MS} }, async () => { await import(${JSON.stringify(
        pathToFileURL(codePath(file)).href,
      )}) })\n`,
  )
  await writeFile(path, [`import { describe } from 'node:test'\n`, ...suites].join(''))
  return path
}
