import { findUser } from '../../db/shared/app-user.ts'
import { withinDeadline } from '../../db/client.ts'
import { getCaller } from '../access/caller.ts'
import type { JsonResponse, RouteRequest } from '../route.ts'
import type { ReadDeps } from '../deps.ts'

/** Returns the caller: as the token says, or, with an API key, as the last token of its owner said. */
export const readUser = async (
  { sql }: ReadDeps,
  request: Pick<RouteRequest, 'caller'>,
): Promise<JsonResponse> => {
  const { principal: id, scheme, profile, isPlatformAdmin: isAdmin = false } = getCaller(request)
  const known = scheme === 'jwt' ? profile : await withinDeadline(sql, findUser(sql, id))
  return { status: 200, body: { name: id, ...known, id, isAdmin } }
}
