import type { Config } from './env.ts'

/** Reads what everybody may know of the settings. */
export const readService = (config: Config) => ({
  issuer: config.AUTH_ISSUER,
  ...(config.CONSOLE_CLIENT_ID !== '' && { client_id: config.CONSOLE_CLIENT_ID }),
  scopes: config.CONSOLE_SCOPES,
  auth_params: Object.fromEntries(new URLSearchParams(config.CONSOLE_AUTH_PARAMS)),
  ...(config.CONSOLE_INSTALL !== '' && { install: config.CONSOLE_INSTALL }),
  samples: config.CONSOLE_SAMPLES === 'on',
  development: config.DEVELOPMENT_ISSUER_KEY !== '',
  video_auth: config.VIDEO_AUTH,
  registry_reads: config.REGISTRY_READS,
  limits: {
    image_bytes: config.IMAGE_MAX_BYTES,
    image_pixels: config.IMAGE_MAX_PIXELS,
    archive_bytes: config.ARCHIVE_MAX_BYTES,
    result_days: config.RESULT_RETENTION_DAYS,
    search_depth: config.SEARCH_MAX_DEPTH,
    video_slots: config.VIDEO_CONCURRENCY_PER_OWNER,
    open_tasks: config.OWNER_TASK_LIMIT,
    stored_bytes: config.OWNER_BYTE_LIMIT,
    ...(config.OWNER_CREDIT_LIMIT !== undefined && { credits: config.OWNER_CREDIT_LIMIT }),
    ...(config.KEY_MAX_DAYS > 0 && { key_days: config.KEY_MAX_DAYS }),
  },
})
