import { checkLines, readRequestLines } from '../../../client/src/lib/batch-lines.ts'
import { requireLines } from '../../../client/src/lib/bytes.ts'
import { t } from '../words/translate.ts'

/** Most lines that a check names because they are no JSON. */
const NAMED = 5

/** Counts the requests of a file. Throws, with the first lines that are wrong, where the service would not take all of them. */
export const countRequests = async (file: File): Promise<number> => {
  const bytes = new Uint8Array(await file.arrayBuffer())
  await requireLines(bytes, file.name)
  const { numbers, issues } = checkLines(bytes)
  if (numbers.length === 0) throw new Error(t('{name} has no line', { name: file.name }))
  if (issues.length === 0) return numbers.length
  const named = issues
    .slice(0, NAMED)
    .map(({ number, message }) => t('Line {number}: {message}', { number, message }))
  const count = issues.length - named.length
  const more =
    count > 0
      ? [t('{count, plural, one {# more line} other {# more lines}} like that', { count })]
      : []
  const first = t('{name} has lines that are no JSON. Nothing was sent.', { name: file.name })
  throw new Error([first, ...named, ...more].join('\n'))
}

/** Makes a file of the lines at some places, from 0, of the file that a batch was made of. Throws where it is another file. */
export const pickLines = async (
  file: File,
  { places, total }: { places: ReadonlySet<number>; total: number },
): Promise<File> => {
  const lines = [...readRequestLines(new Uint8Array(await file.arrayBuffer()))]
  if (lines.length !== total)
    throw new Error(
      t(
        '{name} has {count, plural, one {# request} other {# requests}}, and the batch {total, plural, one {# request} other {# requests}}: choose the file that it was made of',
        { name: file.name, count: lines.length, total },
      ),
    )
  const picked = lines.filter((_, place) => places.has(place)).map(({ text }) => `${text}\n`)
  const name = `rejected-${file.name.replace(/^(rejected-)+/, '')}`
  return new File(picked, name, { type: 'application/jsonl' })
}
