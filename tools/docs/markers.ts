/** Replaces what stands between `<!-- begin <name> -->` and `<!-- end <name> -->`. Throws when the text has no such part. */
export const replacePart = (text: string, name: string, content: string): string => {
  const begin = `<!-- begin ${name} -->`
  const end = `<!-- end ${name} -->`
  const [before, rest = ''] = text.split(begin)
  const [, after] = rest.split(end)
  if (before === undefined || after === undefined)
    throw new Error(`there is no part "${begin} … ${end}": put it where the table is to stand`)
  return `${before}${begin}\n${content}\n${end}${after}`
}

/** A table in Markdown. A bar inside a cell would end it. */
export const makeTable = (head: string[], rows: string[][]): string =>
  [head, head.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`)
    .join('\n')
