import { withinDeadline } from '../platform/db/client.ts'
import { findFile } from './db/file.ts'
import type { NewTaskInput } from './db/task-file.ts'
import { apiError, errors, shown } from '../platform/domain/errors.ts'
import type { InlineImage } from '../platform/json-body/inline.ts'
import type { InputDeps, TaskReadDeps } from './deps.ts'
import { makeIssue, type Issue } from '../platform/domain/validate.ts'

/** A member of a request that names a file. */
export interface InputMember {
  /** Names the input among the inputs of its task. */
  field: string
  /** Place of the member in the body, as a JSON Pointer. */
  pointer: string
  /** Its value: an address, unless it is an inline image. */
  value: unknown
}

interface TaskInputs {
  id: string
  members: readonly InputMember[]
  inline: ReadonlyMap<string, InlineImage>
}

export const NO_INPUT = {
  name: null,
  storageKey: null,
  url: null,
  contentType: null,
  bytes: null,
  sha256: null,
  width: null,
  height: null,
  frames: null,
}

/** Puts the inline images of a request into the store and returns the place of each file that the task needs. */
export const storeInputs = async (
  deps: InputDeps,
  { id, members, inline }: TaskInputs,
): Promise<NewTaskInput[]> => {
  const inputs: NewTaskInput[] = []
  for (const member of members) {
    const image = inline.get(member.pointer)
    if (image) inputs.push(await storeInline(deps, id, member.field, image))
    else if (typeof member.value === 'string')
      inputs.push(await findSource(deps, member, member.value.trim()))
  }
  return inputs
}

const storeInline = async (
  { storage }: Pick<InputDeps, 'storage'>,
  id: string,
  field: string,
  { path, bytes, sha256, image }: InlineImage,
): Promise<NewTaskInput> => {
  if (!image) throw new Error('an invalid image passed validation')
  const storageKey = `inputs/${id}/${field}.${image.extension}`
  await storage.putFile(storageKey, path).catch((error: unknown) => {
    throw errors.unavailable(error)
  })
  const { contentType, width, height } = image
  const frames = image.frames > 1 ? image.frames : null
  const name = `input-${field}.${image.extension}`
  return { field, name, storageKey, url: null, contentType, bytes, sha256, width, height, frames }
}

/** A link of our own is not fetched: the task takes the object that it names. The worker fetches any other address. */
export const findSource = async (
  { sql, signer, now }: TaskReadDeps,
  { field, pointer }: InputMember,
  url: string,
): Promise<NewTaskInput> => {
  const own = signer.parseOwnLink(url, now())
  if (typeof own !== 'object') return { ...NO_INPUT, field, url }
  const file = await withinDeadline(sql, findFile(sql, own))
  if (!file || file.gone || file.storage_key === null) {
    const message = `${pointer} names a file of this service that ${file ? 'was removed: upload it again' : 'is not there, or of an upload not yet: PUT it first'}`
    throw apiError('url_refused', message, { details: [message] })
  }
  return { ...NO_INPUT, field, url, storageKey: file.storage_key }
}

/** Validates the address of a file. A link of our own must be valid; the guard checks any other. */
export const validateSource = (
  deps: Pick<InputDeps, 'signer' | 'outbound' | 'now'>,
  field: string,
  value: unknown,
): Issue[] => {
  if (typeof value !== 'string' || value === '') return []
  const own = deps.signer.parseOwnLink(value.trim(), deps.now())
  if (own === undefined) return validateUrl(deps, field, value)
  if (own === 'upload')
    return [rejected(field, 'must be the download_url of an upload, not its upload_url', value)]
  if (own !== 'bad') return []
  return [
    rejected(
      field,
      'is a link of this service that is not valid or has expired: ask for a fresh one',
      value,
    ),
  ]
}

/** Validates an address that this service will call, as far as that is possible without a look-up. */
export const validateUrl = (
  { outbound }: Pick<InputDeps, 'outbound'>,
  field: string,
  value: unknown,
): Issue[] => {
  if (typeof value !== 'string' || value === '') return []
  const checked = outbound.validateUrl(value)
  return checked.rejected === undefined ? [] : [rejected(field, checked.rejected, value)]
}

const rejected = (field: string, sentence: string, value: string): Issue =>
  makeIssue(field, `${sentence}, got ${shown(withoutSecrets(value))}`, 'url_refused')

/** Hides secrets. The query is one in a signed link, and may be one in a caller's URL. User and password always are. */
const withoutSecrets = (url: string): string =>
  url.replace(/\?.*$/s, '?…').replace(/^([a-z][a-z\d+.-]*:)?\/*[^/]*@/i, '$1//…@')
