/** Settings that services of tests shorten, here as in production. */
export const DEFAULTS = {
  OVERRIDE_HEARTBEAT_SECONDS: '',
  OVERRIDE_RELAY_INTERVAL_MS: '',
  OVERRIDE_RECONCILE_INTERVAL_SECONDS: '',
  OVERRIDE_WEBHOOK_TIME_FACTOR: '',
}
