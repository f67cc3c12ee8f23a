const KEPT_CHARACTERS = 300
/** Nothing behind is read: an error may hold a whole file. */
const READ_CHARACTERS = 2000

/** Cuts an error. Leaves no half of a character at the end, which JSON in the database does not take. */
export const cut = (text: string): string =>
  text.slice(0, KEPT_CHARACTERS).replace(/[\ud800-\udbff]$/, '')

/**
 * Cleans what an engine says of an error for whoever may mend it, and cuts it: without texts of the caller, values, stacks,
 * addresses, folders and secrets.
 * @param given settings of the task
 */
export const cleanReason = (text: string, given: object): string => {
  const reason = text.slice(0, READ_CHARACTERS).replace(STACK, '')
  const plain = listTexts(given).reduce(hideText, collapse(reason))
  const bare = RULES.reduce((left, [found, instead]) => left.replaceAll(found, instead), plain)
  return cut(PATHS.reduce((left, path) => left.replaceAll(path, hidePath), bare))
}

const collapse = (text: string): string => text.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim()

/** The stack of Python or Node, to the end. */
const STACK = /(Traceback \(most recent call last\)|\n\s+at \S).*$/s

const RULES: [RegExp, string][] = [
  [/data:[\w/+.-]*[;,]\S*/gi, '(data)'],
  [/[A-Za-z\d+/]{60,}={0,2}/g, '(data)'],
  [/(-?\d[\d.e+-]*[,;\s]+){7,}-?\d[\d.e+-]*/g, '(numbers)'],
  [/[a-z][a-z\d+.-]*:\/\/[^\s'"]+/gi, '(address)'],
  [/(\b(\d{1,3}\.){3}\d{1,3}|\[[\da-f:]*:[\da-f:]*\])(:\d+)?/gi, '(address)'],
  [/\b(bearer \S+|basic [a-z\d+/=]{16,})/gi, '(secret)'],
  [/\b([\w-]*(?:token|secret|password|api[_-]?key))(["']?\s*[=:]\s*)\S+/gi, '$1$2(secret)'],
]

const PATHS = [
  /(["'])(~?\/|[a-z]:[\\/])[^"']*\1/gi,
  /(?<![\w/.)])~?(\/[\w.@+-]+){2,}\/?/g,
  /\b[a-z]:([\\/][\w.@+-]+)+/gi,
]

/** Leaves the name of a file, which helps, and not its folders, which are the machine's. */
const hidePath = (path: string): string => {
  const file = /[^\\/"']+\.\w{1,12}(?=["']?$)/.exec(path)?.[0]
  return file === undefined ? '(path)' : `(path)/${file}`
}

const listTexts = (value: unknown): string[] => {
  if (typeof value === 'string') return [collapse(value)]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(listTexts) : []
}

/** Characters of a caller's text in a row that are hidden; a shorter text is hidden where it stands as a whole. */
const RUN = 12
/** Shorter texts are in every sentence. */
const SHORTEST = 3

/** True within a word: a short text is a part of many. */
const isLetter = (character = ''): boolean => /[\p{L}\p{N}_]/u.test(character)

/** Hides each part of a text that a caller has written, also where the engine repeats only some of it. */
const hideText = (text: string, written: string): string => {
  const given = written.toLowerCase()
  const length = Math.min(RUN, given.length)
  if (length < SHORTEST) return text
  let plain = ''
  for (let at = 0; at < text.length;) {
    let end = at + length
    const isGiven = () => end <= text.length && given.includes(text.slice(at, end).toLowerCase())
    const isPart = length < RUN && (isLetter(text[at - 1]) || isLetter(text[end]))
    if (!isPart && isGiven()) {
      do end += 1
      while (isGiven())
      plain += '(text)'
      at = end - 1
    } else {
      plain += text.charAt(at)
      at += 1
    }
  }
  return plain
}
