/** What services of tests shorten is as long as in production. */
export const DEFAULTS = {
  HEARTBEAT_SECONDS: '',
  RELAY_INTERVAL_MS: '',
  RECONCILE_INTERVAL_SECONDS: '',
  WEBHOOK_TIME_FACTOR: '',
}
