import { inviteAccount } from '../adapters/accounts.ts'
import { unitOfWork, type UnitDeps } from '../../platform/db/unit-of-work.ts'
import { Invitation, NewInvitation, validateInvitation } from '../domain/invitation.ts'
import { readEmail } from '../domain/email.ts'
import { apiError, shown } from '../../platform/domain/errors.ts'
import { SMALL_BODY } from '../../platform/json-body/body-limits.ts'
import { auditOf } from './access/audit.ts'
import { getCaller, requirePlatformAdmin } from '../../platform/http/access/caller.ts'
import { defineRoute } from '../../platform/http/route.ts'
import type { Route, RouteRequest, SavedResponse } from '../../platform/http/route.ts'

export interface InvitationDeps extends UnitDeps {
  publicUrl: string
  /** False where the accounts belong to an issuer. */
  isBuiltin: boolean
}

/** Makes the route by which platform admins add accounts of AUTH=builtin, as they do on the page of people. */
export const makeInvitationRoutes = (deps: InvitationDeps): Route[] => [
  defineRoute({
    tag: 'Users',
    auth: 'required',
    method: 'post',
    path: '/admin/invitations',
    summary: 'Invite somebody to an account',
    description:
      'With AUTH=builtin alone. The response is the only place that shows the link: Kiln sends no mail. An account of a platform admin takes a bearer token, not an API key.',
    body: {
      ...SMALL_BODY,
      schema: NewInvitation,
      examples: {
        user: { email: 'bob@example.com' },
        admin: { email: 'carol@example.com', is_admin: true },
      },
    },
    responses: {
      201: {
        description: 'The account, with the link that sets its password.',
        schema: Invitation,
        example: {
          id: '0f8d9f7e-5a55-4f0e-9a1e-3d9c6b7a5f10',
          email: 'bob@example.com',
          is_admin: false,
          link: 'https://kiln.example.com/auth/link/0123456789abcdefghijklmnopqrstuvwxyzABCDEFG',
          expires_at: '2026-01-04T00:00:00.000Z',
        },
      },
    },
    errors: ['forbidden', 'account_exists', 'accounts_elsewhere', 'outcome_unknown'],
    secretResponse: true,
    validate: ({ body }) => validateInvitation(body),
    handler: (request) => invite(deps, request),
  }),
]

const invite = (
  { publicUrl, isBuiltin, ...deps }: InvitationDeps,
  request: RouteRequest<unknown, unknown, NewInvitation>,
): Promise<SavedResponse> => {
  const { scheme } = requirePlatformAdmin(getCaller(request))
  if (!isBuiltin) throw apiError('accounts_elsewhere')
  const { email: given, is_admin = false } = request.body
  // A stolen key must not make itself an account that stays when it is revoked.
  if (is_admin && scheme !== 'jwt')
    throw apiError('forbidden', 'A platform admin is invited with a bearer token, not an API key.')
  const email = readEmail(given) ?? given
  return unitOfWork(deps, async (sql) => {
    const account = { email, isAdmin: is_admin, publicUrl }
    const invited = await inviteAccount(sql, auditOf(request), account)
    if (!invited)
      throw apiError(
        'account_exists',
        `${shown(email)}, or what looks the same, has an account; at /auth/people admins reset it.`,
      )
    const body: Invitation = { ...invited, email, is_admin }
    return await request.saveIdempotentResponse(sql, { status: 201, body })
  })
}
