import type { ErrorCode } from '../../../client/src/index.ts'

/** Next step by code, where the service's message alone does not say it. */
const NEXT: Partial<Record<ErrorCode, string>> = {
  unreachable: 'Kiln does not respond. The page goes on by itself once it does.',
  unauthorized: 'Your session has ended. Sign in again.',
  forbidden: 'Your account may not do this. Ask an owner, or sign in as somebody else.',
  task_not_found: 'It is gone, or it is not yours.',
  not_found: 'There is nothing here. Look at the address.',
  rate_limited: 'Too many requests in a short time. The page tries again by itself.',
  streams_exceeded: 'Too many live pages are open. This one asks every few seconds instead.',
  quota_exceeded: 'Your account is full. Wait for open tasks, or ask an operator for more.',
  insufficient_credits: 'Your credits do not suffice. Choose a smaller job, or ask an operator.',
  unavailable: 'A part of Kiln is away. Try again in a moment.',
  busy: 'Kiln has too much to do at once. Try again in a moment.',
  draining: 'Kiln is restarting. Try again in a moment.',
  auth_unavailable: 'The issuer that signs you in does not respond. Try again in a moment.',
  outcome_unknown: 'Nobody knows whether this was done. Pressing again does not do it twice.',
  idempotency_in_flight: 'The same request is still at work. Try again in a moment.',
  precondition_failed: 'Somebody has changed this meanwhile. Reload, then change it again.',
  version_exists: 'Give the version a new number in pyproject.toml.',
  node_exists: 'Choose another id.',
  node_owned_by_other_publisher: 'This node belongs to another publisher. Choose another id.',
  publisher_exists: 'Choose another id.',
  publisher_limit_reached: 'Delete a publisher first, or ask an operator for more.',
  last_owner: 'Make somebody else an owner first.',
  endpoint_limit_reached: 'Delete an endpoint first, or ask an operator for more.',
  endpoint_disabled: 'Switch the endpoint on first.',
  cannot_cancel: 'It is over already, or nearly so.',
  illegal_move: 'Somebody was faster. Reload to see how it stands now.',
  archive_not_found:
    'It has not come, was rejected, or was checked by a release that did not list its files.',
  archive_invalid: 'Pack the node again, with its pyproject.toml at the root.',
  upload_closed: 'The time for this upload is over. Publish the version again.',
  node_banned: 'A platform admin has banned it. Ask them for the reason.',
  publisher_banned: 'A platform admin has banned it. Ask them for the reason.',
}

/** The next step after a rejection; undefined where the message says all. */
export const nextStep = (code: string): string | undefined => NEXT[code as ErrorCode]
