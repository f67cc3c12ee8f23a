/** The words of a text. */
export const words = (text: string): string[] => text.trim().split(/\s+/)

/** `1 file`, `2 files`. */
export const counted = (count: number, one: string): string =>
  `${count} ${one}${count === 1 ? '' : 's'}`

/** Dotted names by what stands before their last dot: `{ 'os.path': 'join split' }` has `os.path.join`. */
export const dottedNames = (members: Record<string, string>): Set<string> =>
  new Set(
    Object.entries(members).flatMap(([owner, names]) =>
      words(names).map((name) => `${owner}.${name}`),
    ),
  )
