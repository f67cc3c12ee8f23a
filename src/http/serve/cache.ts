import type { Caller } from '../access/auth.ts'
import { tagOfBytes } from './etag.ts'
import type { Route } from '../route.ts'

/**
 * Makes the headers that say what caches may do with the response of a read, unless its handler says otherwise. A proxy
 * may keep it for a minute; a client asks each time. `text` is its body, undefined for a 304.
 */
export const makeReadHeaders = (
  { read, auth }: Pick<Route, 'read' | 'auth'>,
  { caller, text }: { caller: Caller | undefined; text: string | undefined },
): Record<string, string> => {
  if (read === undefined) return {}
  const isShared = read === 'public' && !caller
  return {
    ...(text === undefined ? {} : { etag: tagOfBytes(text) }),
    'cache-control': isShared ? 'public, max-age=0, s-maxage=60' : 'private, no-cache',
    // Without it a proxy would give the public response to a caller who may see more.
    ...(auth === 'none' ? {} : { vary: 'Authorization, X-API-KEY' }),
  }
}
