import type { S3Server } from '../support/s3-server.ts'

/** The settings of a process whose files lie in the bucket of a server. */
export const storeSettings = (server: S3Server): NodeJS.ProcessEnv => {
  const { endpoint, region, bucket, credentials } = server.optionsOf('')
  return {
    STORAGE: 's3',
    S3_ENDPOINT: endpoint,
    S3_REGION: region,
    S3_BUCKET: bucket,
    S3_PATH_STYLE: 'true',
    S3_ACCESS_KEY_ID: credentials?.accessKeyId,
    S3_SECRET_ACCESS_KEY: credentials?.secretAccessKey,
  }
}
