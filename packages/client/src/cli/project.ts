import { join } from 'node:path'

import { LocalError, readNamed, UsageError } from './error.ts'
import { parseProject } from './parse-project.ts'
import type { Project } from './parse-project.ts'

/** Reads the pyproject.toml of a folder. Throws a UsageError where there is none, a LocalError that says what to write. */
export const readProject = async (folder: string): Promise<Project> => {
  const path = join(folder, 'pyproject.toml')
  try {
    return parseProject((await readNamed(path)).toString())
  } catch (cause) {
    if (cause instanceof UsageError) throw new UsageError(`${folder} is no pack: ${cause.message}`)
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new LocalError(`${path}, which a pack must have, cannot be read: ${message}`, { cause })
  }
}
