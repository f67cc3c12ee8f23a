import { proxyActivities } from '@temporalio/workflow'

import type { MediaActivities, ReextractedVersion } from '../activities/index.ts'
import { CHECK_TIMING, checkOptions } from './options.ts'

/** Reads the host nodes of a version again, by the extractor that the media workers have now. */
export const reextractVersion = async ({
  versionId,
}: {
  versionId: string
}): Promise<ReextractedVersion> => {
  const { reextractVersion: read } = proxyActivities<MediaActivities>(
    checkOptions('re-read the host nodes', CHECK_TIMING),
  )
  return await read(versionId, CHECK_TIMING.attempts)
}
