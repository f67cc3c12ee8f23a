interface Named {
  path: string
}

/** Finds the file of a name at the root of an archive, or in the one folder that wraps everything. */
export const findTopFile = (
  files: readonly Named[],
  isIt: (name: string) => boolean,
): string | undefined => {
  const [root = ''] = /^[^/]+\//.exec(files[0]?.path ?? '') ?? []
  const top = files.every(({ path }) => path.startsWith(root)) ? root.length : 0
  const found = files.map(({ path }) => path).filter((path) => isIt(path.slice(top)))
  // `README.md` before `README`: what can be drawn comes first.
  return found.find((path) => /\.(md|markdown)$/i.test(path)) ?? found[0]
}

export const isReadme = (name: string): boolean => /^readme(\.(md|markdown|txt|rst))?$/i.test(name)

/** Path of the license in an archive: the file that `license` names, else the usual one, by the rules of the service. */
export const findLicenseFile = (files: readonly Named[], license = ''): string | undefined => {
  const [, named] = /^\s*\{\s*"file"\s*:\s*"(?:\.\/)?([^"\\]+)"/.exec(license) ?? []
  return (
    findTopFile(files, (name) => name === named) ??
    findTopFile(files, (name) => /^(licen[sc]e|copying)([-.][^/]*)?$/i.test(name))
  )
}
