import { withinDeadline } from '../platform/db/client.ts'
import { checkAccount } from './db/account.ts'
import { estimateKind } from './db/task-list.ts'
import { FAMILIES } from './domain/family.ts'
import type { DryRun } from './domain/task-item.ts'
import type { Creation, TaskCommand } from './creation.ts'
import type { TaskReadDeps } from './deps.ts'
import { findSource } from './inputs.ts'

/** Looks at all that `createTask` would look at, and changes nothing. Throws what it would. */
export const tryTask = async (
  deps: TaskReadDeps,
  creation: Creation,
  command: TaskCommand,
): Promise<DryRun> => {
  const { family, kind, credits, members, payload, limits } = await creation.plan(command)
  const { account, inline } = command
  for (const member of members)
    if (typeof member.value === 'string' && !inline.has(member.pointer))
      await findSource(deps, member, member.value)
  const ownBytes = Buffer.byteLength(payload ?? '')
  const bytes = [...inline.values()].reduce((sum, image) => sum + image.bytes, ownBytes)
  const { quota } = limits
  // As the trigger `task_charged` does: an image task that brings no bytes is not rejected for them.
  const isCounted = FAMILIES[family].takesSlots || bytes > 0
  const counted = quota && { ...quota, bytes: isCounted ? quota.bytes : Infinity }
  const estimate = async (): Promise<number | null> => {
    await checkAccount(deps.sql, { account, credits, bytes }, { ...limits, quota: counted })
    return await estimateKind(deps.sql, kind)
  }
  const seconds = await withinDeadline(deps.sql, estimate())
  return { dry_run: true, credits, estimated_seconds: seconds }
}
