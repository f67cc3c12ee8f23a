import { type ArchiveEntry, isTextKind } from './entry.ts'
import type { ArchiveLimits } from './limits.ts'

interface File {
  path: string
  bytes: number
}

/**
 * Reads the files of an archive or a folder, and chooses whose text is kept. Python comes first, so that other texts do not
 * use up its room. The result is in the order given.
 */
export const readFiles = async <Of extends File>(
  files: readonly Of[],
  { textBytes, allTextBytes }: Pick<ArchiveLimits, 'textBytes' | 'allTextBytes'>,
  read: (file: Of, keepsText: boolean) => Promise<ArchiveEntry>,
): Promise<ArchiveEntry[]> => {
  const entries = new Map<Of, ArchiveEntry>()
  let left = allTextBytes
  for (const file of [...files.filter(isPython), ...files.filter((file) => !isPython(file))]) {
    const keepsText = isTextKind(file.path) && file.bytes <= Math.min(textBytes, left)
    if (keepsText) left -= file.bytes
    entries.set(file, await read(file, keepsText))
  }
  return files.flatMap((file) => entries.get(file) ?? [])
}

const isPython = ({ path }: File): boolean => /\.pyi?$/i.test(path)
