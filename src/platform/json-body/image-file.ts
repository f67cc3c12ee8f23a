import { createHash, randomUUID } from 'node:crypto'
import { open, rm, type FileHandle } from 'node:fs/promises'
import { join } from 'node:path'

import { errors } from '../domain/errors.ts'
import { failpoint } from '../process/failpoint.ts'

// One per image being received: large enough that a 50 MB image takes 190 writes, small enough that 64 images at once
// hold 16 MiB.
const BUFFER_BYTES = 256 * 1024
const HEADROOM_BYTES = 32 * 1024

/** A file that is filled from memory in large pieces and hashed on the way. */
export interface ImageFile {
  path: string
  /** Bytes taken so far. */
  bytes: () => number
  /** Lets `write` fill the buffer directly: it gets the buffer and an offset with room for 32 KiB, and says how much it wrote. */
  fill: (write: (target: Buffer, offset: number) => number) => void
  /** Writes out the buffer when it is nearly full, or always; resolves when the file system has taken it. */
  flush: (always?: boolean) => Promise<void>
  /** Hexadecimal SHA-256 of everything flushed; call once. */
  sha256: () => string
  close: () => Promise<void>
  /** Closes and removes. */
  discard: () => Promise<void>
}

/** Makes a file below `folder`, which is created by the first flush, readable by this user only. Disk errors are 503. */
export const makeImageFile = (folder: string): ImageFile => {
  const path = join(folder, `body-${randomUUID()}.part`)
  const hash = createHash('sha256')
  let buffer = Buffer.allocUnsafeSlow(BUFFER_BYTES)
  let filled = 0
  let flushed = 0
  let handle: FileHandle | undefined

  const close = async () => {
    const closing = handle
    handle = undefined
    buffer = Buffer.alloc(0)
    await closing?.close()
  }

  return {
    path,
    bytes: () => flushed + filled,
    fill: (write) => {
      filled += write(buffer, filled)
    },
    flush: async (always = false) => {
      if (!always && filled < BUFFER_BYTES - HEADROOM_BYTES) return
      const piece = buffer.subarray(0, filled)
      hash.update(piece)
      try {
        handle ??= await open(path, 'wx', 0o600)
        // appendFile goes on after a short write, which a bare write() does not.
        await handle.appendFile(piece)
        failpoint('upload.mid-body')
      } catch (cause) {
        throw errors.unavailable(cause)
      }
      flushed += filled
      filled = 0
    },
    sha256: () => hash.digest('hex'),
    close,
    discard: async () => {
      await close()
      await rm(path, { force: true })
    },
  }
}
