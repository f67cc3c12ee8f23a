import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { Readable } from 'node:stream'

/** A file that stands in a body as Base64. */
export interface InlineFile {
  path: string
  /** Media type of the data URL that it is sent as; absent: by its Base64 alone. */
  type?: string | undefined
}

/** A body that can be sent again: each stream of it has the same bytes. */
export interface StreamedBody {
  bytes: number
  open(): Readable
}

interface BodyOptions {
  /** Member that the object is of another one, with what that has beside it. */
  within?: { member: string; beside: object }
}

/** A file, or the link of one. */
type Source = InlineFile | string

/** Makes a JSON object of values and of files, which are read while it is sent. */
export const makeBody = async (
  values: object,
  files: Readonly<Record<string, Source | readonly Source[]>>,
  { within }: BodyOptions = {},
): Promise<StreamedBody> => {
  const members: Part[][] = [
    ...listValues(values),
    ...Object.entries(files).map(([name, file]) => [
      `${JSON.stringify(name)}:`,
      ...(isSource(file) ? quote(file) : list(file.map(quote), '[', ']')),
    ]),
  ]
  const own = list(members, '{', '}')
  const parts = within
    ? list([[`${JSON.stringify(within.member)}:`, ...own], ...listValues(within.beside)], '{', '}')
    : own
  const lengths = await Promise.all(parts.map(measure))
  return {
    bytes: lengths.reduce((sum, length) => sum + length, 0),
    open: () => Readable.from(read(parts), { objectMode: false }),
  }
}

type Part = string | InlineFile

const listValues = (values: object): Part[][] =>
  Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [`${JSON.stringify(name)}:${JSON.stringify(value)}`])

const isSource = (given: Source | readonly Source[]): given is Source =>
  typeof given === 'string' || 'path' in given

const quote = (file: Source): Part[] =>
  typeof file === 'string'
    ? [JSON.stringify(file)]
    : [file.type === undefined ? '"' : `"data:${file.type};base64,`, file, '"']

const list = (items: readonly Part[][], open: string, close: string): Part[] => [
  open,
  ...items.flatMap((item, index) => (index === 0 ? item : [',', ...item])),
  close,
]

const measure = async (part: Part): Promise<number> =>
  typeof part === 'string'
    ? Buffer.byteLength(part)
    : Math.ceil((await stat(part.path)).size / 3) * 4

async function* read(parts: readonly Part[]): AsyncGenerator<Buffer> {
  for (const part of parts) {
    if (typeof part === 'string') yield Buffer.from(part)
    else yield* encode(part.path)
  }
}

/** Base64 in pieces of whole groups of three bytes, so that only the last one is padded. */
async function* encode(path: string): AsyncGenerator<Buffer> {
  let rest = Buffer.alloc(0)
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const bytes = Buffer.concat([rest, chunk])
    const whole = bytes.length - (bytes.length % 3)
    rest = bytes.subarray(whole)
    yield Buffer.from(bytes.toString('base64', 0, whole))
  }
  yield Buffer.from(rest.toString('base64'))
}
