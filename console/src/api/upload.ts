import { isPassing, KilnError } from './client.ts'
import { isAway, noteAnswer, untilBack } from './health.ts'
import { ownLink } from './links.ts'

export interface UploadOptions {
  onProgress?: (part: number) => void
  signal?: AbortSignal
}

/**
 * Sends bytes to a signed link, and tells how much of them has gone (0 to 1), which `fetch` cannot. What was cut off is sent
 * again once the service is back.
 */
export const putFile = async (
  link: string,
  file: Blob,
  options: UploadOptions = {},
): Promise<void> => {
  for (;;)
    try {
      return await putOnce(link, file, options)
    } catch (error) {
      if (!isPassing(error) || options.signal?.aborted || !(await isAway())) throw error
      await untilBack()
    }
}

const putOnce = (link: string, file: Blob, { onProgress, signal }: UploadOptions): Promise<void> =>
  new Promise((resolve, reject) => {
    const request = new XMLHttpRequest()
    const refuse = (message: string, code: 'unreachable' | 'answer_unknown'): void =>
      reject(new KilnError({ code, message, status: request.status }))
    request.upload.addEventListener('progress', ({ loaded, total }) => onProgress?.(loaded / total))
    request.addEventListener('load', () => {
      noteAnswer(request.status < 500)
      if (request.status < 300) return resolve()
      const body = parseFault(request.responseText)
      if (!body) return refuse(`the upload answered ${request.status}`, 'answer_unknown')
      const { error: code, request_id: requestId, ...rest } = body
      reject(new KilnError({ ...rest, code, requestId, status: request.status }))
    })
    request.addEventListener('error', () => {
      noteAnswer(false)
      refuse('the upload broke', 'unreachable')
    })
    request.addEventListener('abort', () => reject(signal?.reason as Error))
    signal?.addEventListener('abort', () => request.abort())
    request.open('PUT', ownLink(link) ?? link)
    request.send(file)
  })

interface Fault {
  error: KilnError['code']
  message: string
  details?: string[]
  request_id?: string
}

const parseFault = (text: string): Fault | undefined => {
  try {
    const body = JSON.parse(text) as Fault
    return typeof body.message === 'string' ? body : undefined
  } catch {
    return undefined
  }
}
