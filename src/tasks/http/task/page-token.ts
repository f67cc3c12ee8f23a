import type { TaskPlace } from '../../db/task-place.ts'
import { shown } from '../../../platform/domain/errors.ts'
import { isUuid } from '../../../platform/domain/uuid.ts'
import { makeIssue, type Issue } from '../../../platform/domain/validate.ts'

/** Names the last row of a page, for the page after it. Its content is not documented for callers. */
export const makePageToken = ({ createdAtUs, id, sequence = '' }: TaskPlace): string =>
  Buffer.from(`${createdAtUs} ${id} ${sequence}`.trimEnd()).toString('base64url')

/** The place that a token names; undefined for a text that is no token. */
export const parsePageToken = (token: string): TaskPlace | undefined => {
  const [createdAtUs = '', id = '', sequence = '', ...rest] = Buffer.from(token, 'base64url')
    .toString()
    .split(' ')
  const isPlace = /^\d{1,16}$/.test(createdAtUs) && isUuid(id) && /^\d{0,9}$/.test(sequence)
  return isPlace && rest.length === 0
    ? { createdAtUs, id, ...(sequence !== '' && { sequence }) }
    : undefined
}

/** Validates a token in the parameter of this name, which the member `next` of a response brings. */
export const validatePageToken = (
  token: unknown,
  name = '?pager.page_token',
  next = 'next_page_token',
): Issue[] =>
  typeof token !== 'string' || parsePageToken(token)
    ? []
    : [makeIssue(name, `must be a ${next} of this list, got ${shown(token)}`)]
