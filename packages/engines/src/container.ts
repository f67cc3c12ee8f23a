import { peekInto } from './image-parts.ts'

const EBML = Buffer.from([0x1a, 0x45, 0xdf, 0xa3])
/** Boxes a QuickTime or MP4 file begins with. */
const BOXES = new Set(['ftyp', 'moov', 'mdat', 'wide', 'free', 'skip', 'pnot'])
/** Brands of pictures, which are ISO media files too. */
const PICTURES = new Set(['avif', 'avis', 'heic', 'heix', 'mif1', 'msf1'])

/** Finds the container of a video by its first bytes; undefined when it is neither MP4, MOV, Matroska nor WebM. */
export const readContainer = async (path: string): Promise<'mov' | 'matroska' | undefined> => {
  const head = await peekInto(path, async (peek) => await peek(0, 64))
  if (head.subarray(0, 4).equals(EBML)) return 'matroska'
  const type = head.toString('latin1', 4, 8)
  if (!BOXES.has(type)) return undefined
  return type === 'ftyp' && PICTURES.has(head.toString('latin1', 8, 12)) ? undefined : 'mov'
}
