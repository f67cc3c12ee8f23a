import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { codePath } from '../../src/local/root.ts'

/** A process and its modules cost more than most of these files; those of workflows start a runtime, of which a process has one. */
const SHARED =
  /^(?:test|packages)\/(?:(?:platform|identity|tasks|engines|events|registry)\/)?(activities|adapters|comfyui|console|db|docs|domain|faults|http|inspector|local)\//
/** It counts what its process holds. */
const ALONE = 'test/registry/adapters/hostile-archive.all.test.ts'
/** They share a browser, or take less than their process does. */
const LARGE = { console: 100, domain: 100, inspector: 20 } as Record<string, number>

/** They wait for most of their time, so that they run beside those that keep the cores busy. */
const WAITING = /^test\/faults\//

/** Programs for the runner: each runs some test files, one after another, each in a suite of its name. */
export interface Group {
  files: string[]
  path: string
  /** Seconds of processor of each file, once the program has ended. */
  costs: string
  waits: boolean
}

/** Long ones first, and last those whose groups take a few seconds, so that none is left alone at the end. */
const RANKS = [/^db$/, /^(client|console|docs|http)$/, /^(activities|deploy|local|workflows)$/]

export interface GroupOptions {
  /** Folder of their programs. */
  folder: string
  /** Milliseconds that each file may take. */
  fileMs: number
}

export const makeGroups = async (
  files: readonly string[],
  { folder, fileMs }: GroupOptions,
): Promise<Group[]> => {
  const byRoom = files.toSorted((one, other) => roomOf(one).localeCompare(roomOf(other)))
  const groups = group(byRoom).toSorted((one, other) => rankOf(one) - rankOf(other))
  return await Promise.all(
    groups.map(async (files, index) => {
      const path = join(folder, `group-${index}.mjs`)
      const costs = join(folder, `group-${index}.json`)
      await writeFile(path, writeProgram(files, costs, fileMs))
      return { files, path, costs, waits: files.some((file) => WAITING.test(file)) }
    }),
  )
}

const rankOf = ([file = '']: readonly string[]): number => {
  const folder = SHARED.exec(file)?.[1] ?? file.split('/')[1] ?? ''
  const rank = RANKS.findIndex((pattern) => pattern.test(folder))
  return rank === -1 ? RANKS.length : rank
}

const group = (files: readonly string[]): string[][] => {
  const groups: string[][] = []
  let last: string[] = []
  for (const file of files) {
    const room = roomOf(file)
    const max = WAITING.test(file) ? 2 : (LARGE[room] ?? 10)
    if (last.length < max && roomOf(last[0] ?? '') === room) last.push(file)
    else groups.push((last = [file]))
  }
  return groups
}

/** Files of one room run in one process. */
const roomOf = (file: string): string => (file === ALONE ? file : (SHARED.exec(file)?.[1] ?? file))

const writeProgram = (files: readonly string[], costs: string, fileMs: number): string => {
  const urlOf = (source: string): string => JSON.stringify(pathToFileURL(codePath(source)).href)
  const suites = files.map((file) => `await addSuite('${file}', ${urlOf(file)})\n`)
  return [
    `import { describe, test } from 'node:test'\n`,
    `import { keepCosts } from ${urlOf('test/support/file-cost.ts')}\n`,
    `const keep = keepCosts(${JSON.stringify(costs)})\n`,
    // One after the other: of files that await the same import each would have its tests in the suite of another.
    `const addSuite = (file, url) => new Promise((added) => describe(file, { timeout: ${fileMs} }, async () => {\n`,
    `  keep(file)\n`,
    `  await import(url).catch((error) => test('can be loaded', () => { throw error })).finally(added)\n`,
    `}))\n`,
    ...suites,
  ].join('')
}
