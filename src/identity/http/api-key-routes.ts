import { randomBytes } from 'node:crypto'

import { Type } from 'typebox'

import { insertAudit } from '../../platform/db/audit-log.ts'
import { insertApiKey, listApiKeys, revokeApiKey } from '../db/api-key.ts'
import { withinDeadline, type Sql } from '../../platform/db/client.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { CreatedApiKey, ListedApiKey, NewApiKey } from '../domain/api-key.ts'
import { makeCredential } from '../../platform/domain/credential.ts'
import { errors } from '../../platform/domain/errors.ts'
import { pastExpiry, validateLife, type LifeLimit } from '../../platform/domain/expiry.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { auditOf } from './access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import { digest } from './access/digest.ts'
import { created, defineRoute, ok } from '../../platform/http/route.ts'
import type { JsonResponse, Route, RouteRequest, SavedResponse } from '../../platform/http/route.ts'

/** The routes of a user's API keys. They take a bearer token only: a stolen key cannot make itself others. */
export const makeApiKeyRoutes = ({ sql, ...limit }: { sql: Sql } & LifeLimit): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'post',
    path: '/users/api-keys',
    summary: 'Make an API key',
    description: 'The response is the only place that shows the key.',
    body: {
      schema: NewApiKey,
      ...SMALL_BODY,
      sentBack: Object.keys(ListedApiKey.properties),
      examples: {
        unlimited: { name: 'nightly renders' },
        limited: { name: 'a page', scopes: ['images'], credit_cap: 0 },
      },
    },
    responses: created('The key, shown this once.', CreatedApiKey, {
      example: { ...KEY_EXAMPLE, key: 'kiln_key_0123456789ABCDEFGHIJKLMNOPQRST0aB1cD' },
      links: {
        revoke: {
          method: 'delete',
          path: '/users/api-keys/:id',
          parameters: { id: '$response.body#/id' },
        },
      },
    }),
    errors: ['forbidden', 'outcome_unknown'],
    secretResponse: true,
    validate: ({ body }) => validateLife(body, limit),
    handler: (request) => createApiKey(sql, request),
  }),
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/users/api-keys',
    summary: 'List the live API keys, newest first',
    responses: ok('Keys, masked.', Type.Array(ListedApiKey), {
      example: [{ ...KEY_EXAMPLE, key: 'kiln_key_…1cD' }],
    }),
    errors: ['forbidden'],
    handler: async (request) => ({
      status: 200,
      body: await withinDeadline(sql, listApiKeys(sql, getCaller(request).owner)),
    }),
  }),
  defineRoute({
    ...COMMON,
    method: 'delete',
    path: '/users/api-keys/:id',
    summary: 'Revoke an API key',
    params: Type.Object({ id: Type.String({ description: 'Id of the key.' }) }),
    responses: { 204: { description: 'The key is rejected from now on.' } },
    errors: ['forbidden', 'api_key_not_found'],
    handler: async (request) => {
      const { id } = request.params
      const { owner } = getCaller(request)
      return await unitOfWork({ sql }, async (sql) => {
        if (!(await revokeApiKey(sql, { id, owner }))) throw errors.apiKeyNotFound(id)
        const target = auditTarget.user(owner)
        const before = { api_key: id.toLowerCase() }
        await insertAudit(sql, auditOf(request), { action: 'api_key.revoke', target, before })
        return { status: 204 }
      })
    },
  }),
]

const KEY_EXAMPLE = {
  id: 'f3b1a9d2-7c55-4e0e-8a1e-3d9c6b7a5f10',
  name: 'nightly renders',
  createdAt: '2026-01-01T00:00:00.000Z',
}

const COMMON = { tag: 'API keys', auth: 'jwt' } as const

const createApiKey = (
  sql: Sql,
  request: RouteRequest<unknown, unknown, NewApiKey>,
): Promise<SavedResponse> => {
  const { name, expires_at, scopes, credit_cap: creditCap } = request.body
  const key = makeCredential('api_key', randomBytes)
  const row = {
    owner: getCaller(request).owner,
    name,
    sha256: digest(key),
    last4: key.slice(-4),
    scopes,
    creditCap,
    expires_at: expires_at === undefined ? undefined : new Date(expires_at),
  }
  return unitOfWork({ sql }, async (sql) => {
    const made = await insertApiKey(sql, row)
    if (made === undefined) throw errors.validationFailed([pastExpiry(expires_at ?? '').message])
    const { id: api_key, ...after } = made
    await insertAudit(sql, auditOf(request), {
      action: 'api_key.create',
      target: auditTarget.user(row.owner),
      after: { api_key, ...after },
    })
    const response: JsonResponse = { status: 201, body: { ...made, key } satisfies CreatedApiKey }
    return await request.saveIdempotentResponse(sql, response)
  })
}
