import { readdirSync } from 'node:fs'

/** Says what is wrong with a folder that a setting names; undefined of one that can be read. */
export const folderIssue = (name: string, path: string): string | undefined => {
  try {
    readdirSync(path)
    return undefined
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    return `${name} must be a folder that can be read (${code}), got ${path}`
  }
}
