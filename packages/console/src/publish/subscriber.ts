import type { Schema } from '../api/client.ts'

const OF_PUBLISHER = '/publishers/{publisherId}/endpoints'

/** Whose webhook subscriptions: those of a publisher, or the caller's own. */
export interface Subscriber {
  base: typeof OF_PUBLISHER
  path: { publisherId: string }
  /** Types of events with their words. */
  events: Readonly<Record<string, string>>
  /** Types that a new one gets unless others are chosen. */
  first: readonly string[]
  mayManage: boolean
  /** Its body may have another form. */
  hasFormat?: true
  /** Its events are chosen by label and kind of their task, too. */
  hasFilters?: true
}

const PUBLISHER_EVENTS: Record<Schema<'PublisherEventType'>, string> = {
  'version.received': 'Archive received',
  'version.active': 'Published',
  'version.flagged': 'Flagged',
  'version.banned': 'Banned',
  'version.deleted': 'Deleted',
  'review.requested': 'Requested',
  'review.decided': 'Decided',
  'token.created': 'Created',
  'token.revoked': 'Revoked',
  'token.expiring': 'Expires within a week',
  'member.added': 'Added',
  'member.changed': 'Role changed',
  'member.removed': 'Removed',
}
const TASK_EVENTS: Record<Schema<'OwnerEventType'>, string> = {
  'image_task.in_progress': 'Started',
  'image_task.completed': 'Completed',
  'image_task.failed': 'Failed',
  'video_task.queueing': 'Queued',
  'video_task.processing': 'Started',
  'video_task.success': 'Completed',
  'video_task.failed': 'Failed',
  'batch.ended': 'Batch ended',
  'operation.ended': 'Operation ended',
  'api_key.expiring': 'Expires within a week',
}

export const publisherSubscriber = (publisherId: string, mayManage: boolean): Subscriber => ({
  base: OF_PUBLISHER,
  path: { publisherId },
  events: PUBLISHER_EVENTS,
  first: ['version.active', 'version.flagged', 'review.decided'],
  mayManage,
})

/** The caller's own, for all their tasks. Their routes are the same below a path of their own. */
export const OWN: Subscriber = {
  base: '/endpoints' as string as typeof OF_PUBLISHER,
  path: { publisherId: '' },
  events: TASK_EVENTS,
  first: ['image_task.completed', 'image_task.failed', 'video_task.success', 'video_task.failed'],
  mayManage: true,
  hasFilters: true,
}

const PLATFORM_EVENTS: Record<Schema<'PlatformEventType'>, string> = {
  'version.flagged': 'Flagged',
  'review.requested': 'Asked for',
  'report.made': 'Made',
  'breaker.opened': 'An engine fails',
  'breaker.closed': 'It works again',
  'engine.crashed': 'A task breaks it',
  'workflow.failed': 'Failed',
  'queue.older_than': 'Old',
  'store.nearly_full': 'Nearly full',
}

/** Those of whoever runs the service, likewise. */
export const PLATFORM: Subscriber = {
  base: '/admin/endpoints' as string as typeof OF_PUBLISHER,
  path: { publisherId: '' },
  events: PLATFORM_EVENTS,
  first: Object.keys(PLATFORM_EVENTS),
  mayManage: true,
  hasFormat: true,
}
