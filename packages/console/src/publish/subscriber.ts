import type { Schema } from '../api/client.ts'
import { t } from '../words/translate.ts'

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
  'version.received': t('Archive received'),
  'version.active': t('Published'),
  'version.flagged': t('Flagged'),
  'version.banned': t('Banned'),
  'version.deleted': t('Deleted'),
  'review.requested': t('Requested'),
  'review.decided': t('Decided'),
  'token.created': t('Created'),
  'token.revoked': t('Revoked'),
  'token.expiring': t('Expires within a week'),
  'member.added': t('Added'),
  'member.changed': t('Role changed'),
  'member.removed': t('Removed'),
}
const TASK_EVENTS: Record<Schema<'OwnerEventType'>, string> = {
  'image_task.in_progress': t('Started'),
  'image_task.completed': t('Completed'),
  'image_task.failed': t('Failed'),
  'video_task.queueing': t('Queued'),
  'video_task.processing': t('Started'),
  'video_task.success': t('Completed'),
  'video_task.failed': t('Failed'),
  'batch.ended': t('Batch ended'),
  'operation.ended': t('Operation ended'),
  'api_key.expiring': t('Expires within a week'),
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
  'version.flagged': t('Flagged'),
  'review.requested': t('Asked for'),
  'report.made': t('Made'),
  'breaker.opened': t('An engine fails'),
  'breaker.closed': t('It works again'),
  'engine.crashed': t('A task crashes it'),
  'workflow.failed': t('Failed'),
  'queue.older_than': t('Old'),
  'store.nearly_full': t('Nearly full'),
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
