/** The words of a text. */
export const words = (text: string): string[] => text.trim().split(/\s+/)

/** Dotted names by what stands before their last dot: `{ 'os.path': 'join split' }` has `os.path.join`. */
export const dottedNames = (members: Record<string, string>): Set<string> =>
  new Set(
    Object.entries(members).flatMap(([owner, names]) =>
      words(names).map((name) => `${owner}.${name}`),
    ),
  )
