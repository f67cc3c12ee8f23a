import type { Caller } from '../access/auth.ts'
import { tagOfBytes } from './etag.ts'
import type { Route } from '../route.ts'

/**
 * What caches may do with the answer of a read, unless its handler says otherwise: proxies must ask again after a minute,
 * clients each time. `text` is its body, undefined for a 304.
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
    // Without it a proxy would give what everybody may read to a caller who is to be given more.
    ...(auth === 'none' ? {} : { vary: 'Authorization, X-API-KEY' }),
  }
}
