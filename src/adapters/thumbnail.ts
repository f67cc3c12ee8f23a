import sharp from 'sharp'

/** Longest side of a thumbnail in pixels. */
const SIDE = 256

/** Writes a small WebP of a picture that an engine has made. Returns its bytes. */
export const writeThumbnail = async (source: string, path: string): Promise<number> => {
  // Effort 4, the default, takes three times as long for a few per cent of bytes.
  const { size } = await shrink(source).webp({ quality: 75, effort: 1 }).toFile(path)
  return size
}

/** Reads all of a picture; throws when any of it is broken. */
export const requireDecodable = async (source: string): Promise<void> => {
  await shrink(source).raw().toBuffer()
}

const shrink = (source: string) =>
  sharp(source, { limitInputPixels: false, sequentialRead: true }).resize(SIDE, SIDE, {
    fit: 'inside',
    withoutEnlargement: true,
  })
