import type { ErrorCode } from '../../../client/src/index.ts'
import { t } from './translate.ts'

/** Next step by code, where the service's message alone does not say it. */
const NEXT: Partial<Record<ErrorCode, string>> = {
  unreachable: t('Kiln does not respond. This page continues by itself once it does.'),
  unauthorized: t('Your session has ended. Sign in again.'),
  forbidden: t('Your account is not allowed to do this. Ask an owner, or sign in as someone else.'),
  task_not_found: t('The task was removed, or belongs to someone else.'),
  not_found: t('Nothing is here. Check the address.'),
  streams_exceeded: t(
    'Too many live pages are open. This one refreshes every few seconds instead.',
  ),
  quota_exceeded: t(
    'Wait until some have ended, delete what you no longer need, or ask an operator for more.',
  ),
  insufficient_credits: t('Choose a smaller job, or ask an operator for more.'),
  unavailable: t('A part of Kiln is down. Try again in a moment.'),
  busy: t('Kiln is busy. Try again in a moment.'),
  draining: t('Kiln is restarting. Try again in a moment.'),
  auth_unavailable: t('The sign-in service does not respond. Try again in a moment.'),
  outcome_unknown: t('The outcome is unknown. Pressing again will not do it twice.'),
  idempotency_in_flight: t('The same request is still running. Try again in a moment.'),
  precondition_failed: t('Someone else changed this. Reload, then make your change again.'),
  version_exists: t('Set a new version number in pyproject.toml.'),
  node_exists: t('Choose another id.'),
  node_owned_by_other_publisher: t('This pack belongs to another publisher. Choose another id.'),
  publisher_exists: t('Choose another id.'),
  publisher_limit_reached: t('Delete a publisher first, or ask an operator for more.'),
  last_owner: t('Make someone else an owner first.'),
  endpoint_limit_reached: t('Delete a webhook subscription first, or ask an operator for more.'),
  endpoint_disabled: t('Enable the webhook subscription first.'),
  cannot_cancel: t('The task has finished, or is about to.'),
  illegal_move: t('Someone else was faster. Reload to see the current state.'),
  archive_not_found: t(
    'The archive has not arrived, was rejected, or was checked by a release that did not list its files.',
  ),
  archive_invalid: t('Zip the pack again, with pyproject.toml at its top level.'),
  upload_closed: t('This upload has expired. Publish the version again.'),
  node_banned: t('Banned by a platform admin. Ask them for the reason.'),
  publisher_banned: t('Banned by a platform admin. Ask them for the reason.'),
}

/** Codes whose messages go on with advice for programs. */
const WITH_ADVICE = new Set(['insufficient_credits', 'quota_exceeded'])

/** The message of a limit without its advice for programs, which the next step says in the words of the console. */
export const withoutAdvice = (code: string, message: string): string =>
  WITH_ADVICE.has(code)
    ? message
        .replace(/: .*$/s, '.')
        .replace('The caller has', 'You have')
        .replace('The caller may', 'You may')
        .replace('the caller has', 'you have')
    : message

/** The next step after a rejection; undefined where the message says all. */
export const nextStep = (code: string): string | undefined => NEXT[code as ErrorCode]
