import { ArgumentError } from './argument.ts'

/** Bytes that are at hand, and can be sent again. */
export type FileBytes = Blob | Uint8Array

/** Source of an upload. A stream can be sent once; a function that opens one, as often as it takes. */
export type UploadSource = FileBytes | Bytes | (() => Bytes)
/** A ReadableStream of whichever library: those of Node and of browsers are no subtypes of each other. */
type Bytes = { getReader(): { read(): Promise<{ done: boolean; value?: Uint8Array | undefined }> } }

/** Rejects what is no source of an upload, such as the path of a file, whose text would be stored in its place. */
export const requireSource = (name: string, value: unknown): void => {
  if (typeof value !== 'function') requireBytes(name, value)
}

const requireBytes = (name: string, value: unknown): void => {
  if (isFileBytes(value) || isStream(value)) return
  throw new ArgumentError(
    `${name} must be a Blob, a Uint8Array, a ReadableStream, or a function that opens one`,
  )
}

const isStream = (value: unknown): value is ReadableStream<Uint8Array> =>
  typeof (value as Partial<ReadableStream> | null | undefined)?.getReader === 'function'

/** Opens a source: returns what is sent. @param onError called with the own error of a stream */
export const openSource = (
  source: UploadSource,
  onError: (error: unknown) => void,
): NonNullable<RequestInit['body']> => {
  const opened: unknown = typeof source === 'function' ? source() : source
  requireBytes('source', opened)
  if (!isStream(opened)) return opened as NonNullable<RequestInit['body']>
  return passOn(opened, (error) => error !== undefined && onError(error))
}

/** Passes a stream on, until a signal is aborted. @param onEnd called once it has ended, has broken with an error, or is cancelled */
export const passOn = (
  stream: ReadableStream<Uint8Array>,
  onEnd: (error?: unknown) => void,
  signal?: AbortSignal,
): ReadableStream<Uint8Array<ArrayBuffer>> => {
  const reader = stream.getReader()
  const start = (out: ReadableStreamDefaultController): void =>
    signal?.addEventListener('abort', () => {
      out.error(signal.reason)
      void cancel(signal.reason).catch(() => {})
    })
  const pull = async (out: ReadableStreamDefaultController): Promise<void> => {
    const { done, value } = await reader.read().catch((error: unknown) => {
      onEnd(error)
      throw error
    })
    if (!done) return out.enqueue(value)
    onEnd()
    out.close()
  }
  const cancel = async (reason: unknown): Promise<void> => {
    onEnd()
    await reader.cancel(reason)
  }
  // Otherwise it is read ahead.
  return new ReadableStream({ start, pull, cancel }, { highWaterMark: 0 })
}

export const isFileBytes = (value: unknown): value is FileBytes =>
  value instanceof Blob || value instanceof Uint8Array

/** SHA-256 in hex of what is in memory; undefined of all else. */
export const hashOf = async (source: UploadSource): Promise<string | undefined> => {
  if (!(source instanceof Uint8Array)) return undefined
  const digest = await crypto.subtle.digest('SHA-256', await readBytes(source))
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

export const toBase64 = async (file: FileBytes): Promise<string> => {
  const bytes = await readBytes(file)
  let text = ''
  // Arguments of a call are few.
  for (let from = 0; from < bytes.length; from += 0x8000)
    text += String.fromCharCode(...bytes.subarray(from, from + 0x8000))
  return btoa(text)
}

const readBytes = async (file: FileBytes): Promise<Uint8Array<ArrayBuffer>> =>
  new Uint8Array(file instanceof Blob ? await file.arrayBuffer() : file)

/** Rejects what is no file with a request a line: the service would take none of it. */
export const requireLines = async (file: FileBytes, name = 'requests'): Promise<void> => {
  const head = await readBytes(file instanceof Blob ? file.slice(0, 1000) : file.subarray(0, 1000))
  const [first, second] = head
  const hasMark = first === 0xef && second === 0xbb
  const isWide = first === 0xff || first === 0xfe || first === 0 || second === 0
  const isArray = /^\s*\[/.test(new TextDecoder().decode(head))
  if (hasMark) throw new ArgumentError(`${name} must be UTF-8 without a byte order mark`)
  if (isWide) throw new ArgumentError(`${name} must be UTF-8, got UTF-16`)
  if (isArray) throw new ArgumentError(`${name} must have one a line, got a JSON array`)
}
