import { open } from 'node:fs/promises'

/** Bytes by which a zip is known at its beginning. */
export const ZIP_HEAD_BYTES = 4

/** Whether bytes begin as a zip does: with the header of a first entry or, when it is empty, with the end record. */
export const beginsAsZip = (head: Buffer): boolean =>
  BEGINNINGS.some((beginning) => head.subarray(0, ZIP_HEAD_BYTES).equals(beginning))

/** Whether the end record of a zip (APPNOTE 4.3.16) lies where one may: it has 22 bytes and a comment after it. */
export const hasEndRecord = async (path: string): Promise<boolean> => {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const length = Math.min(size, END_BYTES + COMMENT_BYTES)
    const { buffer, bytesRead } = await file.read({
      buffer: Buffer.alloc(length),
      position: size - length,
    })
    const at = buffer.subarray(0, bytesRead).lastIndexOf(END)
    return at >= 0 && bytesRead - at >= END_BYTES
  } finally {
    await file.close()
  }
}

const END = Buffer.from('PK\x05\x06', 'latin1')
const BEGINNINGS = [Buffer.from('PK\x03\x04', 'latin1'), END]
const END_BYTES = 22
/** Its length is a number of 16 bits. */
const COMMENT_BYTES = 65_535
