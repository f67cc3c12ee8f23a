import type { TaskDetailRow } from './db/task-detail.ts'
import { gatherListed } from './domain/listed-file.ts'
import { creationPath } from './domain/image/image-kind.ts'
import type { TaskDetail } from './domain/task-item.ts'
import { writeTaskOptions } from './domain/task-options.ts'
import { END_IMAGE } from './domain/video/end-image.ts'
import { VIDEO_PREFIX } from './domain/video/video-path.ts'

interface InputLinks extends Record<'show' | 'sign', (text: string) => string> {
  /** Makes a fresh link to the file that a link of this service names; undefined: the reader gets none. */
  renew?: ((link: string) => string | undefined) | undefined
}

/** Inputs by their address: a signed link to what is stored here. */
export const showInputs = (
  { inputs }: Pick<TaskDetailRow, 'inputs'>,
  { show, sign, renew }: InputLinks,
): TaskDetail['inputs'] =>
  inputs.map(({ name, url = '', isOwnLink, ...file }) => {
    const fresh = isOwnLink && renew?.(url)
    return {
      ...file,
      url: name === undefined ? show(url) : sign(name),
      ...(fresh && { stored_url: fresh }),
    }
  })

/** Makes the request that would make the same again. An image sent as a link or Base64 is an address now. */
export const makeRequest = (
  { item: { family, kind }, settings, options, webhookUrl }: TaskDetailRow,
  inputs: TaskDetail['inputs'],
  show: (url: string) => string,
): TaskDetail['request'] => {
  const urls = Object.fromEntries(inputs.flatMap(({ field, url }) => (url ? [[field, url]] : [])))
  const shownUrl = webhookUrl === null ? undefined : show(webhookUrl)
  const given = Object.entries(settings).map(([name, value]) => [
    name,
    typeof value === 'string' && /^https?:/i.test(value) ? show(value) : value,
  ])
  const body = Object.fromEntries(given) as Record<string, unknown>
  if (family === 'image')
    return {
      path: creationPath(kind),
      body: {
        ...gatherListed(urls),
        ...body,
        ...(shownUrl && { webhook_url: shownUrl }),
        ...writeTaskOptions(options, 'kiln_priority'),
      },
    }
  const images = [urls['images'], urls[END_IMAGE]].filter((url) => url !== undefined)
  return {
    path: `${VIDEO_PREFIX}/${images.length > 1 ? 'start-end2video' : kind}`,
    body: {
      ...body,
      ...(images.length > 0 && { images }),
      ...(shownUrl && { callback_url: shownUrl }),
      ...writeTaskOptions(options, kind === 'extend' ? 'kiln_priority' : 'priority'),
    },
  }
}
