import type { Schema } from '../api/schema.ts'
import { t } from './translate.ts'

type Attempt = Schema<'DeliveryAttempt'>

/** Why an attempt did not deliver. */
export const CAUSES: Record<NonNullable<Attempt['error_class']>, string> = {
  address_refused: t('Kiln does not call this address'),
  dns: t('Host not found'),
  connect: t('Nothing is listening at the address'),
  tls: t('The certificate of the webhook URL is not valid'),
  timeout: t('The webhook URL did not respond in time'),
  reset: t('The webhook URL broke the connection'),
  status_3xx: t('The webhook URL sent a redirect, which Kiln does not follow'),
  status_4xx: t('The webhook URL rejected it'),
  status_5xx: t('The webhook URL responded with a server error'),
  gone: t('The webhook URL wants no more events'),
  unknown: t('Its outcome was not recorded'),
}

/** The same of a class that an older page may not know. */
export const causeOf = (issue = 'unknown'): string =>
  (CAUSES as Readonly<Record<string, string>>)[issue] ?? issue
