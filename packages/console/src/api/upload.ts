import { withRetries } from '../../../client/src/lib/retry.ts'
import { t } from '../words/translate.ts'
import { PATIENT, sendRequest, type Data } from './client.ts'
import { recordReached } from './health.ts'
import { ownLink } from './links.ts'

/**
 * Sends bytes to a signed link, and reports the part that has gone (0 to 1). What was cut off is sent again once the
 * service is back. By XMLHttpRequest, because `fetch` does not report progress.
 */
export const putFile = async (
  link: string,
  file: Blob,
  { onProgress, signal }: { onProgress(part: number): void; signal?: AbortSignal },
): Promise<void> => {
  const putOnce = (): Promise<Response> =>
    new Promise((resolve, reject) => {
      const request = new XMLHttpRequest()
      request.upload.addEventListener('progress', ({ loaded, total }) => onProgress(loaded / total))
      request.addEventListener('load', () => {
        const { status, responseText } = request
        recordReached(status < 500)
        resolve(new Response(responseText || null, { status }))
      })
      request.addEventListener('error', () => {
        recordReached(false)
        reject(new Error(t('the upload broke')))
      })
      request.addEventListener('abort', () => reject(signal?.reason as Error))
      signal?.addEventListener('abort', () => request.abort())
      request.open('PUT', ownLink(link) ?? link)
      request.send(file)
    })
  await withRetries(PATIENT, signal, putOnce)
}

const CHECK = '/registry/check'

/** Has the service read and scan an archive, which it does not keep. A lost connection is tried again. */
export const checkArchive = async (
  archive: Blob,
  query: Record<string, string>,
  signal: AbortSignal,
): Promise<Data<typeof CHECK, 'post'>> => {
  const path = `${location.origin}${CHECK}?${new URLSearchParams(query).toString()}`
  const send = () => sendRequest(new Request(path, { method: 'POST', body: archive, signal }))
  const response = await withRetries({ attempts: 4, baseMs: 1000 }, signal, send)
  return (await response.json()) as Data<typeof CHECK, 'post'>
}

/** The media type that the service has found by the bytes of a file. */
export const readType = async (link: string): Promise<string> => {
  const { headers } = await fetch(ownLink(link) ?? link, { method: 'HEAD' })
  return headers.get('content-type') ?? ''
}

/** A picture of the page itself, as a file that can be uploaded. */
export const readAsset = async (src: string, name: string): Promise<File> => {
  const bytes = await (await fetch(src)).blob()
  return new File([bytes], name, { type: bytes.type })
}
