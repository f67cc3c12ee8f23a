import type { JWK } from 'jose'
import { Type } from 'typebox'

import { hostOf, isLoopbackHost } from '../../platform/outbound/url.ts'
import type { Sql } from '../../platform/db/client.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { apiError, shown } from '../../platform/domain/errors.ts'
import { signToken, tokenExpiry } from '../../platform/process/development-issuer.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { created, defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route, RouteRequest, SavedResponse } from '../../platform/http/route.ts'

/** The issuer of the embedded stack: its key, and the users it knows. */
export interface Development {
  key: JWK
  audience: string
  users: readonly string[]
  /** Users who are platform admins. */
  admins: readonly string[]
}

export interface DevelopmentDeps {
  sql: Sql
  /** Absent in production. */
  development?: Development | undefined
}

/**
 * Makes the routes by which a page acts as one of the development users. They exist on the embedded stack alone, and
 * serve only this machine and pages of this service: a site whose name leads to 127.0.0.1 has another Host.
 */
export const makeDevelopmentRoutes = ({ sql, development }: DevelopmentDeps): Route[] => {
  if (development === undefined) return []
  const { users, admins } = development
  return [
    defineRoute({
      ...COMMON,
      method: 'get',
      path: '/development/users',
      summary: 'List the development users',
      responses: ok('The users, always in the same order.', Type.Array(DevelopmentUser), {
        example: [{ user: 'alice', platform_admin: false }],
      }),
      handler: async (request) => {
        rejectStrangers(request)
        const body = users.map((user) => ({ user, platform_admin: admins.includes(user) }))
        return { status: 200, body }
      },
    }),
    defineRoute({
      ...COMMON,
      method: 'post',
      path: '/development/tokens',
      summary: 'Make a bearer token of a development user',
      body: {
        schema: Type.Object({ user: Type.Enum([...users]) }),
        ...SMALL_BODY,
        examples: { first: { user: users[0] } },
      },
      responses: created('A token, good for 12 hours.', DevelopmentToken, {
        example: { user: 'alice', token: 'eyJhbGci…', expires_at: '2026-01-01T12:00:00.000Z' },
      }),
      secretResponse: true,
      handler: (request) => createToken(sql, development, request),
    }),
  ]
}

const COMMON = {
  tag: 'Development',
  auth: 'none',
  description: 'Of the embedded stack alone. It serves this machine and pages of this service.',
  errors: ['forbidden'],
} as const

const DevelopmentUser = Type.Object({ user: Type.String(), platform_admin: Type.Boolean() })

const DevelopmentToken = Type.Object({
  user: Type.String(),
  token: Type.String(),
  expires_at: Type.String({ format: 'date-time' }),
})

const createToken = async (
  sql: Sql,
  { key, audience }: Development,
  request: RouteRequest<unknown, unknown, { user: string }>,
): Promise<SavedResponse> => {
  rejectStrangers(request)
  const { user } = request.body
  const issuedAt = new Date()
  const token = await signToken(key, user, { audience, issuedAt })
  const body = { user, token, expires_at: tokenExpiry(issuedAt).toISOString() }
  const response: JsonResponse = { status: 201, body }
  return await unitOfWork({ sql }, (sql) => request.saveIdempotentResponse(sql, response))
}

/** Throws 403 for a page of another site, and for a name that only happens to lead here. */
const rejectStrangers = ({ headers }: Pick<RouteRequest, 'headers'>): void => {
  const host = `http://${headers.host ?? ''}`
  if (!URL.canParse(host) || !isLoopbackHost(hostOf(new URL(host))))
    throw apiError(
      'forbidden',
      `Host must be localhost or a loopback address, got ${shown(headers.host)}`,
    )
  const site = headers['sec-fetch-site']
  if (site !== undefined && site !== 'same-origin')
    throw apiError('forbidden', `Sec-Fetch-Site must be same-origin or absent, got ${shown(site)}`)
}
