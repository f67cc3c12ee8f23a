/** Replaces what stands between `<!-- begin <name> -->` and `<!-- end <name> -->`. Throws when the text has no such part. */
export const replacePart = (text: string, name: string, content: string): string => {
  const begin = `<!-- begin ${name} -->`
  const end = `<!-- end ${name} -->`
  const [before, rest = ''] = text.split(begin)
  const [, after] = rest.split(end)
  if (before === undefined || after === undefined)
    throw new Error(`there is no part "${begin} … ${end}": put it where the part is to stand`)
  return `${before}${begin}\n\n${content}\n\n${end}${after}`
}

const WIDTH = 100

/** A page that is made: its title, then its parts with an empty line between them. */
export const makePage = (title: string, source: string, parts: readonly string[]): string =>
  [
    `# ${title}`,
    wrap(
      `<!-- \`npm run docs\` makes this page from ${source}. A test fails when it is stale. -->`,
    ),
    ...parts,
  ].join('\n\n') + '\n'

/** Breaks a paragraph into lines; all but the first begin with `indent`. */
export const wrap = (text: string, indent = ''): string => {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(/\s+/)) {
    if (line !== '' && line.length + 1 + word.length > WIDTH) {
      lines.push(line)
      line = indent + word
    } else line = line === '' ? word : `${line} ${word}`
  }
  return [...lines, line].join('\n')
}

/** A list, for entries that would make a table wider than a terminal. */
export const makeList = (items: readonly string[]): string =>
  items.map((item) => wrap(`- ${item}`, '  ')).join('\n')

/** A table in Markdown. A bar inside a cell would end it. */
export const makeTable = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`)
    .join('\n')
