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

/** A page that is made: its title, then its parts with an empty line between them. */
export const makePage = (title: string, source: string, parts: readonly string[]): string =>
  [
    `# ${title}`,
    `<!-- \`npm run docs\` makes this page from ${source}. A test fails when it is stale. -->`,
    ...parts,
  ].join('\n\n') + '\n'

/** A table in Markdown. A bar inside a cell would end it. */
export const makeTable = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`)
    .join('\n')
