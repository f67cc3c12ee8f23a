import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

import { codePath } from '../../src/local/root.ts'

/** A process and its modules cost more than most of these files; those of workflows start a runtime, of which a process has one. */
const SHARED = /^test\/(activities|adapters|console|db|docs|domain|extraction|faults|http|local)\//
/** It counts what its process holds. */
const ALONE = 'test/extraction/hostile.test.ts'
/**
 * Those of faults wait for most of their time, so that few of them must not end the run alone. Those of the console share
 * a browser; those of domain and extraction take less than their process does.
 */
const filesIn = (room: string): number =>
  ({ faults: 2, console: 100, domain: 100, extraction: 20 })[room] ?? 10

/** Long ones first, and last those whose groups take a few seconds, so that none is left alone at the end. */
const RANKS = [
  /^test\/db\//,
  /^test\/faults\//,
  /^test\/(client|console|docs|http)\//,
  /^test\/(activities|deploy|local|workflows)\//,
]

export interface GroupOptions {
  /** Where their programs are put. */
  folder: string
  /** Milliseconds that each file may take. */
  fileMs: number
}

/** Programs for the runner: each runs some test files, one after another, each in a suite of its name. */
export const makeGroups = async (
  files: readonly string[],
  options: GroupOptions,
): Promise<string[]> => {
  const groups = group(files).toSorted((one, other) => rankOf(one) - rankOf(other))
  return await Promise.all(
    groups.map(async (group, index) => {
      const path = join(options.folder, `group-${index}.mjs`)
      await writeFile(path, writeProgram(group, options))
      return path
    }),
  )
}

const rankOf = ([file = '']: readonly string[]): number => {
  const rank = RANKS.findIndex((pattern) => pattern.test(file))
  return rank === -1 ? RANKS.length : rank
}

const group = (files: readonly string[]): string[][] => {
  const groups: string[][] = []
  let last: string[] = []
  for (const file of files) {
    const room = roomOf(file)
    const joins = last.length < filesIn(room) && roomOf(last[0] ?? '') === room
    if (joins) last.push(file)
    else groups.push((last = [file]))
  }
  return groups
}

/** Files of one room run in one process. */
const roomOf = (file: string): string => (file === ALONE ? file : (SHARED.exec(file)?.[1] ?? file))

const writeProgram = (files: readonly string[], { fileMs }: GroupOptions): string => {
  const suites = files.map((file) => {
    const url = pathToFileURL(codePath(file)).href
    return `describe('${file}', { timeout: ${fileMs} }, async () => { await import('${url}') })\n`
  })
  return [`import { describe } from 'node:test'\n`, ...suites].join('')
}
