import type { ImageTaskKind } from './image-task.ts'

/** Expected time of rendering in whole seconds; a result of unknown size counts 10. */
export const estimateSeconds = (_kind: ImageTaskKind, megapixels: number | undefined): number =>
  megapixels === undefined ? 10 : Math.max(1, Math.ceil(megapixels))
