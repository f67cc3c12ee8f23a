import { open } from 'node:fs/promises'

const NEEDED = ['ftyp', 'moov', 'mdat']
/** Files of the usual encoders have some five; a fragmented one has hundreds. */
const MAX_BOXES = 10_000

/** True when a file is an MP4 with an index and media, whose boxes end where it ends. It is not decoded. */
export const isWholeMp4 = async (path: string): Promise<boolean> => {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const types: string[] = []
    let start = 0
    while (start < size && types.length < MAX_BOXES) {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(16), 0, 16, start)
      const length = buffer.readUInt32BE(0)
      // 1: the length stands behind the type, in 64 bits.
      const bytes = length === 1 ? Number(buffer.readBigUInt64BE(8)) : length
      if (bytesRead < 8 || bytes < 8) return false
      types.push(buffer.toString('latin1', 4, 8))
      start += bytes
    }
    return start === size && types[0] === 'ftyp' && NEEDED.every((type) => types.includes(type))
  } finally {
    await file.close()
  }
}
