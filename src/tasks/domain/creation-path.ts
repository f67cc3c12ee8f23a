import { customName, customPath } from './custom-kind.ts'
import { IMAGE_KINDS, type ImageTaskKind } from './image/image-kind.ts'
import { VIDEO_PREFIX } from './video/video-path.ts'

/** Path on which a task of a kind is made. */
export const creationPath = (kind: string): string => {
  const custom = customName(kind)
  if (custom !== undefined) return customPath(custom)
  return Object.hasOwn(IMAGE_KINDS, kind)
    ? IMAGE_KINDS[kind as ImageTaskKind].path
    : `${VIDEO_PREFIX}/${kind}`
}
