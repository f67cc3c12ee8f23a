import sharp from 'sharp'

export interface PictureOptions {
  width?: number
  height?: number
  format?: 'png' | 'jpeg' | 'webp' | 'avif' | 'tiff' | 'gif'
  /** Another value, another picture. */
  shade?: number
}

/** A small picture with a gradient, as bytes of a format. */
export const makePicture = async ({
  width = 16,
  height = 16,
  format = 'png',
  shade = 0,
}: PictureOptions = {}): Promise<Buffer> => {
  const pixels = Buffer.alloc(width * height * 3)
  for (let index = 0; index < width * height; index += 1) {
    pixels[index * 3] = (index + shade) % 256
    pixels[index * 3 + 1] = 120
    pixels[index * 3 + 2] = (shade * 7) % 256
  }
  return await sharp(pixels, { raw: { width, height, channels: 3 } })
    .toFormat(format)
    .toBuffer()
}

export const base64 = async (options?: PictureOptions): Promise<string> =>
  (await makePicture(options)).toString('base64')
