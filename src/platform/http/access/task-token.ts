import type { Request } from 'express'

import { CREDENTIAL_PREFIXES } from '../../domain/credential.ts'
import type { Route } from '../route.ts'
import { rawQuery } from '../serve/query.ts'

type Asked = Pick<Request, 'headers' | 'url'>

/** The `?token=` of a request, where its route takes one there; what it is has to be validated. */
export const tokenInQuery = (route: Route, { url }: Pick<Asked, 'url'>): string | undefined =>
  route.takesTaskTokens === 'in-query'
    ? (new URLSearchParams(rawQuery(url)).get('token') ?? undefined)
    : undefined

/** True for a request by a token for one task, good or not: a page is to read why one is rejected, too. */
export const sendsTaskToken = (route: Route, request: Asked): boolean =>
  SENT.test(request.headers.authorization ?? '') || tokenInQuery(route, request) !== undefined

const SENT = new RegExp(`^bearer +${CREDENTIAL_PREFIXES.task_token}`, 'i')
