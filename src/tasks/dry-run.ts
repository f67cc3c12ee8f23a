import { withinDeadline } from '../db/client.ts'
import { checkAccount, type AccountLimits } from '../db/task/account.ts'
import { estimateKind } from '../db/task/task-list.ts'
import type { DryRun, TaskKind } from '../domain/task/task-item.ts'
import type { InlineImage } from '../json-body/inline.ts'
import type { TaskReadDeps } from './deps.ts'
import { findSource, type InputMember } from './inputs.ts'

interface Attempt extends AccountLimits {
  kind: TaskKind
  credits: number
  members: readonly InputMember[]
  inline: ReadonlyMap<string, InlineImage>
  account: string
  /** Beside the pictures that came with the request. */
  bytes?: number
}

/** Looks at all that a creation with a valid body would look at, and changes nothing. Throws what it would. */
export const tryTask = async (
  deps: TaskReadDeps,
  { kind, credits, members, inline, account, bytes = 0, ...limits }: Attempt,
): Promise<DryRun> => {
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
  return { dry_run: true, credits, estimated_seconds: seconds }
}
