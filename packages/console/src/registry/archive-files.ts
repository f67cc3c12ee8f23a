interface Named {
  path: string
}

/** Finds the file of a name at the root of an archive, or in the one folder that wraps everything. */
export const findTopFile = (files: readonly Named[], name: RegExp): string | undefined => {
  const [root = ''] = /^[^/]+\//.exec(files[0]?.path ?? '') ?? []
  const top = files.every(({ path }) => path.startsWith(root)) ? root : ''
  const found = files.filter(
    ({ path }) => path.startsWith(top) && name.test(path.slice(top.length)),
  )
  // `README.md` before `README`: what can be drawn comes first.
  return found
    .map(({ path }) => path)
    .toSorted((a, b) => Number(isMarkdown(b)) - Number(isMarkdown(a)))[0]
}

const isMarkdown = (path: string): boolean => /\.(md|markdown)$/i.test(path)

/** Path of the license in an archive: the file that `license` names, else the usual one. */
export const findLicenseFile = (
  files: readonly Named[],
  license: string | undefined,
): string | undefined => {
  const named = readNamedFile(license)
  const isThere = named !== undefined && findTopFile(files, exactly(named))
  return isThere || findTopFile(files, /^(licen[sc]e|copying)([-.][^/]*)?$/i)
}

const readNamedFile = (license: string | undefined): string | undefined => {
  if (license === undefined) return undefined
  try {
    const { file } = JSON.parse(license) as { file?: unknown }
    return typeof file === 'string' ? file : undefined
  } catch {
    return undefined
  }
}

const exactly = (path: string): RegExp =>
  new RegExp(`^${path.replace(/^\.\//, '').replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)}$`)
