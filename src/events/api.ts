import type { ApiBase } from '../platform/api.ts'
import { startLoop } from '../platform/process/loop.ts'
import type { PlatformConfig } from '../platform/settings/settings.ts'
import { makeEndpointHeaders } from './adapters/endpoint-headers.ts'
import { makeWebhookSecrets } from './adapters/webhook-secrets.ts'
import { warnOfKeys } from './db/key-warning.ts'
import type { EventConfig } from './settings.ts'
import { noticeConditions } from './temporal/platform-notice.ts'

/** Makes what routes of events take, and starts the notices to platform admins and to owners of keys that end. */
export const makeEventApi = (
  { commit, sql, secrets, signer, outbound, now, taskQueue, log }: ApiBase,
  config: EventConfig & PlatformConfig,
) => ({
  routes: {
    event: {
      ...commit,
      taskQueue,
      redeliveryLimits: {
        perEvent: config.ANONYMOUS_REDELIVERIES_PER_EVENT,
        perHost: config.ANONYMOUS_REDELIVERIES_PER_HOST,
      },
      signer,
      outbound,
      now,
      webhookSecrets: makeWebhookSecrets({ sql, secrets, shared: config.WEBHOOK_DEFAULT_SECRET }),
      endpointHeaders: makeEndpointHeaders(secrets),
      maxEndpoints: config.MAX_ENDPOINTS,
    },
  },
  /** Starts once the api listens. */
  startLoops: () => [
    startLoop(
      'notices',
      async () => {
        await warnOfKeys(sql)
        await noticeConditions({
          ...commit,
          taskQueue,
          queueSeconds: config.NOTICE_QUEUE_SECONDS,
          storePercent: config.NOTICE_STORE_PERCENT,
          storagePath: config.STORAGE === 'local' ? config.STORAGE_PATH : undefined,
        })
      },
      { intervalMs: config.NOTICE_INTERVAL_MS, log },
    ),
  ],
})
