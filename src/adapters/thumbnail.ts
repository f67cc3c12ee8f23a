import sharp from 'sharp'

/** Longest side of a thumbnail in pixels. */
const SIDE = 256

/** Writes a small WebP of a picture that an engine has made. */
export const writeThumbnail = async (source: string, path: string): Promise<void> => {
  const picture = sharp(source, { limitInputPixels: false, sequentialRead: true })
  const small = picture.resize(SIDE, SIDE, { fit: 'inside', withoutEnlargement: true })
  // Effort 4, the default, takes three times as long for a few per cent of bytes.
  await small.webp({ quality: 75, effort: 1 }).toFile(path)
}
