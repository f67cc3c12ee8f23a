import { readdir } from 'node:fs/promises'
import { join, relative } from 'node:path'

/** The test files below `root` in the order of their names; with patterns those that one of them matches. */
export const listTestFiles = async (root: string, patterns: string[]): Promise<string[]> => {
  const entries = await readdir(join(root, 'test'), { withFileTypes: true, recursive: true })
  const files = entries
    .filter((entry) => entry.isFile() && entry.name.endsWith('.test.ts'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted()
  const wanted = patterns.map(toExpression)
  return wanted.length === 0 ? files : files.filter((file) => wanted.some((one) => one.test(file)))
}

const toExpression = (pattern: string): RegExp =>
  new RegExp(
    pattern
      .replace(/^\.\//, '')
      .split(/\*+/)
      .map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, String.raw`\$&`))
      .join('.*'),
  )
