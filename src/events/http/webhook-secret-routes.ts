import { insertAudit } from '../../platform/db/audit-log.ts'
import { withinDeadline, type Sql } from '../../platform/db/client.ts'
import { unitOfWork } from '../../platform/db/unit-of-work.ts'
import { auditTarget } from '../../platform/domain/audit-log.ts'
import { OVERLAP_SECONDS, SecretRotation, WebhookSecrets } from '../domain/event.ts'
import type { OwnerSecret, WebhookSecrets as Keeper } from '../adapters/webhook-secrets.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { auditOf } from '../../identity/http/access/audit.ts'
import { getCaller } from '../../platform/http/access/caller.ts'
import { defineRoute, ok, type JsonResponse, type Route } from '../../platform/http/route.ts'

export interface WebhookSecretDeps {
  sql: Sql
  webhookSecrets: Keeper
}

/** The routes of the secret that signs what is sent to a caller's webhook URLs. */
export const makeWebhookSecretRoutes = ({ sql, webhookSecrets }: WebhookSecretDeps): Route[] => [
  defineRoute({
    ...COMMON,
    method: 'get',
    path: '/webhook-secret',
    summary: 'Read the secrets that sign the notifications of the caller',
    description: 'The first secret is made when somebody asks for it, or when it is first used.',
    responses: ok('All that sign now, newest first.', WebhookSecrets, {
      headers: ['Cache-Control'],
      example: { secrets: [SECRET_EXAMPLE] },
    }),
    errors: [],
    handler: async (request) => {
      const secrets = await withinDeadline(sql, webhookSecrets.get(getCaller(request).owner))
      return toResponse(secrets)
    },
  }),
  defineRoute({
    ...COMMON,
    method: 'post',
    path: '/webhook-secret/rotate',
    summary: 'Replace the secret that signs the notifications of the caller',
    description:
      'The old secret goes on signing beside the new one for a while. A still older one ends at once.',
    body: {
      ...SMALL_BODY,
      schema: SecretRotation,
      required: false,
      examples: { hour: { overlap_seconds: 3600 } },
    },
    responses: ok('The new secret, and the old one that still signs beside it.', WebhookSecrets, {
      headers: ['Cache-Control'],
      example: {
        secrets: [
          SECRET_EXAMPLE,
          {
            ...SECRET_EXAMPLE,
            created_at: '2025-01-01T00:00:00.000Z',
            expires_at: '2026-01-02T00:00:00.000Z',
          },
        ],
      },
    }),
    errors: ['outcome_unknown'],
    secretResponse: true,
    handler: (request) => {
      const { owner } = getCaller(request)
      const { overlap_seconds: overlapSeconds = OVERLAP_SECONDS } = request.body
      return unitOfWork({ sql }, async (sql) => {
        const secrets = await webhookSecrets.rotate(sql, owner, overlapSeconds)
        await insertAudit(sql, auditOf(request), {
          action: 'webhook_secret.rotate',
          target: auditTarget.user(owner),
          after: { secret_at: secrets[0]?.createdAt },
        })
        const response = toResponse(secrets)
        return await request.saveIdempotentResponse(sql, response)
      })
    },
  }),
]

const COMMON = { tag: 'Events', auth: 'required', scopes: ['webhooks'] } as const

const SECRET_EXAMPLE = {
  secret: `whsec_${Buffer.alloc(32).toString('base64')}`,
  created_at: '2026-01-01T00:00:00.000Z',
}

const toResponse = (secrets: readonly OwnerSecret[]): JsonResponse => ({
  status: 200,
  headers: { 'cache-control': 'no-store' },
  body: {
    secrets: secrets.map(({ secret, createdAt, expiresAt }) => ({
      secret,
      created_at: createdAt.toISOString(),
      ...(expiresAt && { expires_at: expiresAt.toISOString() }),
    })),
  },
})
