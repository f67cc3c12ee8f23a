import { proxyActivities } from '@temporalio/workflow'

import type {
  ReextractedVersion,
  ReinspectActivities,
  RescannedVersion,
} from '../../activities/registry/reinspect.ts'
import { CHECK_TIMING, checkOptions } from './check-options.ts'

/** Reads the host nodes of a version again, by the extractor that the media workers have now. */
export const reextractVersion = async ({
  versionId,
}: {
  versionId: string
}): Promise<ReextractedVersion> =>
  await proxyActivities<ReinspectActivities>(
    checkOptions('re-read the host nodes', CHECK_TIMING),
  ).reextractVersion(versionId, CHECK_TIMING.attempts)

/** Scans the archive of a version again, by the scanner that the media workers have now. */
export const rescanVersion = async ({
  versionId,
}: {
  versionId: string
}): Promise<RescannedVersion> =>
  await proxyActivities<ReinspectActivities>(
    checkOptions('rescan the archive', CHECK_TIMING),
  ).rescanVersion(versionId, CHECK_TIMING.attempts)
