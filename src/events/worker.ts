import { makeSecrets } from '../platform/adapters/secrets.ts'
import { makeAttemptSlots } from '../platform/outbound/attempt-slots.ts'
import type { PlatformConfig } from '../platform/settings/settings.ts'
import type { WorkerBase } from '../platform/worker.ts'
import { makeEndpointHeaders } from './adapters/endpoint-headers.ts'
import { makeWebhookSecrets } from './adapters/webhook-secrets.ts'
import { readDelivery, type EventConfig } from './settings.ts'

export const makeDelivery = (
  { common, outbound, makeLinks }: WorkerBase,
  config: PlatformConfig & EventConfig,
) => {
  const secrets = makeSecrets({ keys: config.SECRETS_KEYS })
  return {
    outbound,
    signer: makeLinks(),
    attemptSlots: makeAttemptSlots(),
    webhookSecrets: makeWebhookSecrets({
      sql: common.sql,
      secrets,
      shared: config.WEBHOOK_DEFAULT_SECRET,
    }),
    endpointHeaders: makeEndpointHeaders(secrets),
    delivery: readDelivery(config),
    random: Math.random,
    now: () => new Date(),
  }
}
