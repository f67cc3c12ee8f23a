export type StoreKind = 'local' | 's3'

/** Settings of where files are kept, by their names in the environment. */
export interface StorageSettings {
  STORAGE: StoreKind
  STORAGE_ALSO: StoreKind | 'none'
  STORAGE_PATH: string
  SCRATCH_PATH: string
  S3_ENDPOINT: string
  S3_REGION: string
  S3_BUCKET: string
  S3_PREFIX: string
  S3_PATH_STYLE: boolean
  S3_ACCESS_KEY_ID: string
  S3_SECRET_ACCESS_KEY: string
  S3_REDIRECT: 'on' | 'off'
}

/** True when a bucket is used. */
export const hasBucket = ({
  STORAGE,
  STORAGE_ALSO,
}: Pick<StorageSettings, 'STORAGE' | 'STORAGE_ALSO'>): boolean =>
  STORAGE === 's3' || STORAGE_ALSO === 's3'
