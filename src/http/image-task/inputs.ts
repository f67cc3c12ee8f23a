import { withinDeadline } from '../../db/client.ts'
import { findFile } from '../../db/file.ts'
import type { NewTaskInput } from '../../db/image-task.ts'
import { apiError, errors } from '../../domain/errors.ts'
import { IMAGE_KINDS } from '../../domain/image-kind.ts'
import type { ImageField, ImageTaskKind } from '../../domain/image-kind.ts'
import type { InlineImage } from '../body/inline.ts'
import type { RouteRequest } from '../route.ts'
import type { CreationDeps } from './create.ts'

interface TaskInputs {
  id: string
  kind: ImageTaskKind
  request: RouteRequest
}

const NONE = {
  name: null,
  storageKey: null,
  url: null,
  contentType: null,
  bytes: null,
  sha256: null,
  width: null,
  height: null,
}

/** Puts the inline images of a request into the store and tells where each image of the task is. */
export const storeInputs = async (
  deps: CreationDeps,
  task: TaskInputs,
): Promise<NewTaskInput[]> => {
  const inputs: NewTaskInput[] = []
  for (const field of IMAGE_KINDS[task.kind].images) {
    const image = task.request.inline.get(`/${field}`)
    const url = (task.request.body as Record<string, unknown>)[field]
    if (image) inputs.push(await storeInline(deps, task.id, field, image))
    else if (typeof url === 'string') inputs.push(await findSource(deps, field, url))
  }
  return inputs
}

const storeInline = async (
  { storage }: CreationDeps,
  id: string,
  field: ImageField,
  { path, bytes, sha256, image }: InlineImage,
): Promise<NewTaskInput> => {
  if (!image) throw new Error('an image with a fault passed its judge')
  const storageKey = `inputs/${id}/${field}.${image.extension}`
  await storage.putFile(storageKey, path).catch((error: unknown) => {
    throw errors.unavailable(error)
  })
  const { contentType, width, height } = image
  const name = `input-${field}.${image.extension}`
  return { field, name, storageKey, url: null, contentType, bytes, sha256, width, height }
}

/** A link of our own is not fetched: the task takes the object it names. Any other address is the worker's to fetch. */
const findSource = async (
  { sql, signer, now }: CreationDeps,
  field: ImageField,
  url: string,
): Promise<NewTaskInput> => {
  const own = signer.parseOwnLink(url, now())
  if (own === undefined || own === 'bad') return { ...NONE, field, url }
  const file = await withinDeadline(findFile(sql, own))
  if (!file || file.gone || file.storage_key === null) {
    const message = `/${field} names a file of this service that is not there (any more)`
    throw apiError('url_refused', message, { details: [message] })
  }
  return { ...NONE, field, storageKey: file.storage_key }
}
