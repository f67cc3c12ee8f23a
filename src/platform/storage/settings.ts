import type { PlatformConfig } from '../settings/settings.ts'

/** True when a bucket is used. */
export const hasBucket = ({
  STORAGE,
  STORAGE_ALSO,
}: Pick<PlatformConfig, 'STORAGE' | 'STORAGE_ALSO'>): boolean =>
  STORAGE === 's3' || STORAGE_ALSO === 's3'
