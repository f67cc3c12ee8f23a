import { withRetries } from '../../../client/src/lib/retry.ts'
import { PATIENT } from './client.ts'
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
        reject(new Error('the upload broke'))
      })
      request.addEventListener('abort', () => reject(signal?.reason as Error))
      signal?.addEventListener('abort', () => request.abort())
      request.open('PUT', ownLink(link) ?? link)
      request.send(file)
    })
  await withRetries(PATIENT, signal, putOnce)
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
