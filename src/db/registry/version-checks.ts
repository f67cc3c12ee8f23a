import { checkCause } from '../../domain/registry/archive-check.ts'
import { checksFailedReason } from '../../domain/registry/version-transition.ts'
import type { VersionStatus } from '../../domain/registry/version.ts'
import type { Transaction } from '../client.ts'
import { findVersionState } from './open-version.ts'
import { lockNodeOfVersion } from './registry-lock.ts'
import { transitionVersion } from './version-transition.ts'

/**
 * Records on a Pending version why its checks could not run, for an operator; the first reason stays. Returns the
 * status of the version, which somebody may have changed.
 */
export const giveUpChecks = async (
  sql: Transaction,
  { id, code }: { id: string; code: string },
): Promise<VersionStatus> => {
  await lockNodeOfVersion(sql, id)
  const version = await findVersionState(sql, id)
  if (version?.status === 'NodeVersionStatusPending' && !version.checksFailed) {
    const reason = checksFailedReason(checkCause(code))
    await transitionVersion(sql, { id, name: 'give_up_checks', reason, actor: 'workflow' })
  }
  return version?.status ?? 'NodeVersionStatusDeleted'
}
