import { randomUUID } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { stat, writeFile } from 'node:fs/promises'
import { Readable } from 'node:stream'

import type { Output, OutputFile } from '../domain/template/run-end.ts'
import { makeOrigin, type OriginOptions, type OriginResponse } from '../origin.ts'

/** A file to upload; a null in place of its path empties what was uploaded under the name. */
export interface Upload extends OutputFile {
  path: string | null
}

/** One instance of ComfyUI. All of it throws a SilentError for 5xx, and where no response comes. */
export interface ComfyClient {
  name: string
  get(path: string, signal?: AbortSignal): Promise<OriginResponse>
  post(path: string, body: object, signal?: AbortSignal): Promise<OriginResponse>
  upload(file: Upload, signal?: AbortSignal): Promise<OriginResponse>
  /** True when it has a file. Reads its first byte alone. */
  has(file: OutputFile): Promise<boolean>
  /**
   * Fetches what a node has made into a new file.
   * @throws OutboundError
   */
  fetch(made: Output, toFile: string, signal: AbortSignal): Promise<void>
  close(): void
}

/** For a file of 512 MiB on its way in. */
const FILE_MS = 300_000

export const makeComfyClient = (options: OriginOptions): ComfyClient => {
  const { ask, download, silenceMs, close } = makeOrigin(options)
  return {
    name: options.name,
    get: (path, signal) => ask(path, { signal, needsBody: true }),
    post: (path, body, signal) =>
      ask(path, { body: Buffer.from(JSON.stringify(body)), signal, totalMs: 6 * silenceMs }),
    upload: async (file, signal) => {
      const { headers, body } = await makeForm(file)
      return await ask('/upload/image', { headers, body, signal, totalMs: FILE_MS })
    },
    has: async (file) => {
      const { status } = await ask(viewPath(file), { headers: { range: 'bytes=0-0' } })
      // An empty file has no first byte.
      return status < 300 || status === 416
    },
    fetch: async (made, toFile, signal) => {
      if ('text' in made) return await writeFile(toFile, made.text)
      await download(viewPath(made), toFile, signal)
    },
    close,
  }
}

const viewPath = ({ filename, subfolder, type }: OutputFile): string =>
  `/view?${new URLSearchParams({ filename, subfolder, type }).toString()}`

/** A form with one file, which is read while it is sent. Names are ours, or came from an instance. */
const makeForm = async ({ path, filename, subfolder, type }: Upload) => {
  const boundary = randomUUID()
  const fields = Object.entries({ subfolder, type, overwrite: 'true' }).map(
    ([field, value]) =>
      `--${boundary}\r\nContent-Disposition: form-data; name="${field}"\r\n\r\n${value}\r\n`,
  )
  const quoted = filename.replaceAll(/["\r\n]/g, '_')
  const head = `${fields.join('')}--${boundary}\r\nContent-Disposition: form-data; name="image"; filename="${quoted}"\r\nContent-Type: application/octet-stream\r\n\r\n`
  const tail = `\r\n--${boundary}--\r\n`
  const bytes = path === null ? 0 : (await stat(path)).size
  const length = Buffer.byteLength(head) + bytes + Buffer.byteLength(tail)
  async function* read(): AsyncGenerator<Buffer> {
    yield Buffer.from(head)
    if (path !== null) yield* createReadStream(path) as AsyncIterable<Buffer>
    yield Buffer.from(tail)
  }
  return {
    headers: {
      'content-type': `multipart/form-data; boundary=${boundary}`,
      'content-length': String(length),
    },
    body: Readable.from(read(), { objectMode: false }),
  }
}
