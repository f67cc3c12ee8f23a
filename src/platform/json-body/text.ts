/** Takes the decoded text of one JSON string in pieces and gives the value that stands for it. */
export interface TextSink {
  write: (piece: string) => void
  end: () => unknown
}

/** Joins a string in memory; `hold` gets its length in bytes and throws when that is too much. */
export const makeText = (hold: (bytes: number) => void): TextSink => {
  let text = ''
  return {
    write: (piece) => {
      hold(Buffer.byteLength(piece))
      text += ownCopy(piece)
    },
    end: () => text,
  }
}

/** Sinks of an image member, one for each form. */
export interface ImageTextSinks {
  makeText: () => TextSink
  openImage: () => TextSink & { reject: (reason: string) => void }
}

/**
 * Takes the text of an image member: a URL stays a string, Base64 goes on to an image, and so does a data URI without
 * its header. The empty string stays one, for the schema to validate.
 */
export const makeImageText = (sinks: ImageTextSinks): TextSink => {
  let head = ''
  let sink: TextSink | undefined

  const decide = (complete: boolean): TextSink | undefined => {
    const found = findImageForm(head, complete)
    if (found === undefined) return undefined
    if (found.form === 'url') {
      const text = sinks.makeText()
      text.write(head)
      return text
    }
    const image = sinks.openImage()
    if (found.form === 'base64') image.write(found.rest)
    else image.reject(found.reason)
    return image
  }

  return {
    write: (piece) => {
      if (sink !== undefined) return sink.write(piece)
      head += piece
      sink = decide(false)
    },
    end: () => {
      if (sink === undefined && head === '') return ''
      sink ??= decide(true)
      return sink?.end()
    },
  }
}

/**
 * A string that was cut out of a larger one keeps the larger one alive (in V8 from 13 characters on). A body of blanks
 * with one word in each slice would stay in memory as a whole, although only its words are counted. Lone surrogates are
 * lost, so check for them before.
 */
export const ownCopy = (piece: string): string =>
  piece.length < 13 ? piece : Buffer.from(piece).toString()

/** Form of the text of an image member. `rest` is the beginning of the Base64 that is already known. */
type ImageForm =
  | { form: 'url' }
  | { form: 'base64'; rest: string }
  | { form: 'rejected'; reason: string }

// Registered media types and schemes are far shorter.
const LONGEST_SCHEME = 64
const LONGEST_DATA_HEADER = 1024

/**
 * Distinguishes the three forms of an image input by the beginning of its text: a data URI (its type is ignored), a URL
 * (any other scheme), or Base64. Blanks before it do not count.
 *
 * @returns undefined while the beginning is too short to decide; never when `complete`.
 */
export const findImageForm = (text: string, complete: boolean): ImageForm | undefined => {
  const head = text.trimStart()
  if (head === '' && !complete && text.length < LONGEST_DATA_HEADER) return undefined
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(head.slice(0, LONGEST_SCHEME))?.[0]
  if (scheme === undefined) {
    const undecided = /^[a-z][a-z0-9+.-]*$/i.test(head) && head.length < LONGEST_SCHEME
    return undecided && !complete ? undefined : { form: 'base64', rest: head }
  }
  return scheme.toLowerCase() === 'data:' ? findDataForm(head, complete) : { form: 'url' }
}

const findDataForm = (head: string, complete: boolean): ImageForm | undefined => {
  const comma = head.slice(0, LONGEST_DATA_HEADER).indexOf(',')
  if (comma === -1) {
    if (!complete && head.length < LONGEST_DATA_HEADER) return undefined
    return { form: 'rejected', reason: 'the data URI has no comma after its type' }
  }
  if (!/;\s*base64\s*$/i.test(head.slice(0, comma)))
    return { form: 'rejected', reason: 'the data URI does not say ";base64"' }
  return { form: 'base64', rest: head.slice(comma + 1) }
}
