import { writeFile } from 'node:fs/promises'

import sharp from 'sharp'

/** Writes a screenshot at three quarters of its size. */
export const writeSmall = async (path: string, png: Buffer, width: number): Promise<void> => {
  const small = sharp(png).resize({ width: Math.round(width * 0.75) })
  await writeFile(path, await small.webp({ quality: 70 }).toBuffer())
}
