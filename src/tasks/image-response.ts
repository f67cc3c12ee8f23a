import { estimateSeconds, resultSize } from './domain/image/image-size.ts'
import type { ImageKind, ImageRequest } from './domain/image/image-kind.ts'
import type { Size } from '../platform/domain/size.ts'
import type { EngineName } from './domain/engine.ts'
import type { CreationResponse } from './creation.ts'

interface MadeImage {
  id: string
  kind: ImageKind['kind']
  settings: object
  /** Size of the first image, where it is known. */
  size: Size | undefined
  engine: EngineName
  /** Sentences about what takes no effect. */
  warnings: string[]
}

/** The response to a creation. `tasks` is the path of the tasks of its kind. */
export const respondToCreation = (
  { publicUrl }: { publicUrl: string },
  tasks: string,
  { id, warnings, engine, ...made }: MadeImage,
): CreationResponse => ({
  status: 200,
  body: {
    data: {
      task_id: id,
      status: 'CREATED',
      generated: [],
      ...(warnings.length > 0 && { warnings }),
    },
  },
  headers: {
    location: `${publicUrl}${tasks}/${id}`,
    'x-credits-used': '0',
    ...(engine === 'local' && { 'x-estimated-duration-seconds': estimate(made) }),
  },
})

const estimate = ({ kind, settings, size }: Pick<MadeImage, 'kind' | 'settings' | 'size'>) => {
  const image = { kind, settings } as ImageRequest
  if (!size) return String(estimateSeconds(image.kind, undefined))
  const { width, height } = resultSize(image, size)
  return String(estimateSeconds(image.kind, (width * height) / 1_000_000))
}
