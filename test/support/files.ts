import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** Files of tests that `npm test` leaves out unless they are named: `npm run test:all` runs them. */
const REST = /\.all\.test\.ts$/

export interface Choice {
  /** Paths, or parts of them, with `*` for anything: the files that one of them matches. */
  patterns?: string[]
  /** Without a pattern: the files that `npm test` leaves out, in place of the others. */
  rest?: boolean
}

/** The test files below `root` in the order of their names. */
export const listTestFiles = async (
  root: string,
  { patterns = [], rest = false }: Choice,
): Promise<string[]> => {
  const packages = await readdir(join(root, 'packages'))
  const folders = ['test', ...packages.map((name) => join('packages', name, 'test'))]
  const lists = await Promise.all(folders.map((folder) => listFolder(root, folder)))
  const files = lists.flat().toSorted()
  const wanted = patterns.map(toExpression)
  return wanted.length === 0
    ? files.filter((file) => REST.test(file) === rest)
    : files.filter((file) => wanted.some((one) => one.test(file)))
}

const listFolder = async (root: string, folder: string): Promise<string[]> => {
  const entries = await readdir(join(root, folder), { withFileTypes: true, recursive: true })
  return entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
}

const toExpression = (pattern: string): RegExp => {
  const literal = pattern.replace(/^\.\//, '').replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`)
  return new RegExp(literal.replaceAll(/\*+/g, '.*'))
}
