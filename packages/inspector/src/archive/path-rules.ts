/** Path of an entry that breaks a rule: the rule, and the part of the path that does, where the rule is about several. */
interface BrokenRule {
  code: PathCode
  found?: string | undefined
}

/** One rule of the paths in an archive. */
interface PathRule {
  /** One sentence: the error, and how it is mended. */
  sentence: string
  /** Returns the part of a path that breaks it; `''` where the sentence has named it. */
  find(path: string): string | undefined
}

/** Rules in order: a path that breaks several is rejected by the first. */
const PATH_RULES = {
  path_traversal: {
    sentence:
      'A name leads out of its folder by "..": zip the pack from inside its folder, so that names are relative to it',
    find: (path) => namedBy(path.split(/[\\/]/).includes('..')),
  },
  path_absolute: {
    sentence:
      'A name is an absolute path: zip the pack from inside its folder, so that names are relative to it',
    find: (path) => namedBy(/^(\/|\\\\|[a-z]:[\\/])/i.test(path)),
  },
  path_backslash: {
    sentence:
      'A name has "\\", as Compress-Archive of Windows PowerShell 5.1 and old .NET write it between folders: zip the pack by Explorer, by `tar -a -c -f pack.zip *` or by `kiln publish`, which write "/"; or rename the file that has one',
    find: (path) => namedBy(path.includes('\\')),
  },
  path_control: {
    sentence: 'A name has a control character: rename the file',
    find: (path) => namedBy(/\p{Cc}/u.test(path)),
  },
  path_segment: {
    sentence:
      'A name has an empty or "." segment: zip the pack again from inside its folder, without "./" before names',
    find: (path) => namedBy(segmentsOf(path).some((name) => name === '' || name === '.')),
  },
  path_reserved: {
    sentence:
      'Windows cannot hold a name (device names such as "nul", any of < > : " | ? *, a dot or blank at the end): rename the file',
    find: (path) => segmentsOf(path).flatMap((name) => RESERVED.exec(name)?.[0] ?? [])[0],
  },
} as const satisfies Record<string, PathRule>

export type PathCode = keyof typeof PATH_RULES

const namedBy = (isBroken: boolean): string | undefined => (isBroken ? '' : undefined)

/** Device names with any extension, characters that Windows keeps for itself, and ends that it drops. */
const RESERVED =
  /^(con|prn|aux|nul|com[1-9¹²³]|lpt[1-9¹²³]|conin\$|conout\$)\s*(?=\.|$)|[<>:"|?*]|[. ]$/i

export const segmentsOf = (path: string): string[] => path.replace(/\/$/, '').split('/')

/** Finds the first rule that a path breaks. */
export const findBrokenRule = (path: string): BrokenRule | undefined => {
  for (const [code, { find }] of Object.entries<PathRule>(PATH_RULES)) {
    const found = find(path)
    if (found !== undefined) return { code: code as PathCode, found: found || undefined }
  }
  return undefined
}

/** Sentences of the rules by their codes. */
export const PATH_SENTENCES = Object.fromEntries(
  Object.entries(PATH_RULES).map(([code, { sentence }]) => [code, sentence]),
) as Record<PathCode, string>

/**
 * The path that a name stands for. Tools of MS-DOS and Windows may write `\` between folders (APPNOTE 4.4.17 wants `/`); a
 * name that has both, or that another system wrote, could be read in two ways and stays as it is.
 * @param versionMadeBy As the directory says it: the system is its upper byte.
 */
export const pathOfName = (name: string, versionMadeBy: number): string =>
  MADE_BY_WINDOWS.has(versionMadeBy >> 8) && !name.includes('/') ? name.replaceAll('\\', '/') : name

/** MS-DOS and NTFS (APPNOTE 4.4.2). */
const MADE_BY_WINDOWS: ReadonlySet<number> = new Set([0, 10])
