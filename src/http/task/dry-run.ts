import { Type, type TSchema } from 'typebox'

import { withinDeadline } from '../../db/client.ts'
import { checkAccount, type AccountLimits } from '../../db/task/account.ts'
import { estimateKind } from '../../db/task/task-list.ts'
import { DryRun, type TaskKind } from '../../domain/task/task-item.ts'
import type { JsonResponse, RouteRequest } from '../route.ts'
import { findSource, type InputMember } from './inputs.ts'
import type { TaskReadDeps } from './deps.ts'

/** The query of a creation that can be tried without a task being made. */
export const DryRunQuery = Type.Object({
  dry_run: Type.Boolean({
    default: false,
    description:
      'Only validate the request: the response holds its price, or all its issues. Nothing is stored, charged or begun, the Idempotency-Key is ignored, and it counts as a read.',
  }),
})

/** Makes the schema of the response to a creation or to its dry run. */
export const orDryRun = <Schema extends TSchema>(schema: Schema) => Type.Union([schema, DryRun])

interface Attempt extends AccountLimits {
  kind: TaskKind
  credits: number
  members: readonly InputMember[]
  account: string
  /** Beside the pictures that came with the request. */
  bytes?: number
}

/** Looks at all that a creation with a valid body would look at, and changes nothing. Throws what it would. */
export const respondToDryRun = async (
  deps: TaskReadDeps,
  { inline }: Pick<RouteRequest, 'inline'>,
  { kind, credits, members, account, bytes = 0, ...limits }: Attempt,
): Promise<JsonResponse> => {
  for (const member of members)
    if (typeof member.value === 'string' && !inline.has(member.pointer))
      await findSource(deps, member, member.value)
  const sent = [...inline.values()].reduce((sum, image) => sum + image.bytes, bytes)
  const cost = { account, credits, bytes: sent }
  const estimate = async (): Promise<number | null> => {
    await checkAccount(deps.sql, cost, limits)
    return await estimateKind(deps.sql, kind)
  }
  const seconds = await withinDeadline(deps.sql, estimate())
  return { status: 200, body: { dry_run: true, credits, estimated_seconds: seconds } }
}
