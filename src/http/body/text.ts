import { findImageForm } from './image-form.ts'

/** Takes the decoded text of one JSON string in pieces and gives the value that stands for it. */
export interface TextSink {
  write: (piece: string) => void
  end: () => unknown
}

/** Joins a string in memory; `hold` gets its length in bytes and throws when that is too much. */
export const makeHeldText = (hold: (bytes: number) => void): TextSink => {
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
