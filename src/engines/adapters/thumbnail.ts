import sharp from 'sharp'

/** Longest side of a thumbnail in pixels. */
const SIDE = 256

/** Makes a small WebP of a picture that an engine has made. */
export const makeThumbnail = (source: string | Uint8Array): Promise<Buffer> =>
  // Effort 4, the default, takes three times as long for a few per cent of bytes.
  shrink(source).webp({ quality: 75, effort: 1 }).toBuffer()

/** Reads all of a picture; throws when any of it is broken. */
export const requireDecodable = async (source: string): Promise<void> => {
  await shrink(source).raw().toBuffer()
}

const shrink = (source: string | Uint8Array) =>
  sharp(source, { limitInputPixels: false, sequentialRead: true }).resize(SIDE, SIDE, {
    fit: 'inside',
    withoutEnlargement: true,
  })
