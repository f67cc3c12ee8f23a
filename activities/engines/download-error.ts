import type { OutboundError, OutboundErrorKind } from '../../src/platform/outbound/error.ts'
import { TaskError, type TaskErrorCode } from '../../src/tasks/domain/task-error.ts'

/**
 * The error a task ends with when fetching `field` (a JSON Pointer such as `/image`) failed. Of hosts it names that of
 * the address, which its caller gave, and none that another one redirects to.
 */
export const toTaskError = (
  error: OutboundError,
  { field, url }: { field: string; url: string },
): TaskError => {
  const isOwn = error.at !== undefined && error.at === hostAndPort(url)
  const message = `${field}: ${error.message}${isOwn ? ` (${error.at})` : ''}`
  return new TaskError(CODES[error.kind] ?? 'download_failed', message, { cause: error })
}

const hostAndPort = (url: string): string | undefined => {
  if (!URL.canParse(url)) return undefined
  const { hostname, port, protocol } = new URL(url)
  return `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`
}

const CODES: Partial<Record<OutboundErrorKind, TaskErrorCode>> = {
  address_refused: 'address_refused',
  downgrade: 'address_refused',
  too_large: 'file_too_large',
}
