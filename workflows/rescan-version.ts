import { proxyActivities } from '@temporalio/workflow'

import type { MediaActivities, RescannedVersion } from '../activities/index.ts'
import { CHECK_TIMING, checkOptions } from './options.ts'

/** Scans the archive of a version again, by the scanner that the media workers have now. */
export const rescanVersion = async ({
  versionId,
}: {
  versionId: string
}): Promise<RescannedVersion> => {
  const { rescanVersion: scan } = proxyActivities<MediaActivities>(
    checkOptions('rescan the archive', CHECK_TIMING),
  )
  return await scan(versionId, CHECK_TIMING.attempts)
}
