import sharp from 'sharp'

import { notifyPreview } from '../../src/platform/db/change-notification.ts'
import { probeImage } from '../../src/tasks/adapters/image-probe.ts'
import type { CommonDependencies } from '../platform/dependencies.ts'

/** Sides in pixels: noise, as the first steps have it, fits into a notification only as a small picture. */
const SIDES = [256, 128, 64]
const MAX_PIXELS = 4_194_304
/** A notification has less than 8000 bytes, and Base64 is a third longer. */
const MAX_BYTES = 5800

/** Sends a preview to whoever follows the task now; nothing keeps it. It is only for show, so one that fails is left out. */
export const showPreview = async (
  { sql, log }: Pick<CommonDependencies, 'sql' | 'log'>,
  id: string,
  picture: Buffer,
): Promise<void> => {
  try {
    await probeImage(picture, { maxPixels: MAX_PIXELS })
    for (const side of SIDES) {
      const small = sharp(picture).resize(side, side, { fit: 'inside', withoutEnlargement: true })
      const webp = await small.webp({ quality: 60, effort: 1 }).toBuffer()
      if (webp.length <= MAX_BYTES) return await notifyPreview(sql, id, webp)
    }
  } catch (error) {
    log.debug({ task_id: id, err: error }, 'a preview was left out')
  }
}
