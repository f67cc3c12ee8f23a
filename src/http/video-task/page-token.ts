import type { VideoListPlace } from '../../db/video-task/video-list.ts'
import { shown } from '../../domain/shared/errors.ts'
import { isUuid } from '../../domain/shared/uuid.ts'
import type { Fault } from '../../domain/shared/validate.ts'

/** Names the last task of a page, for the page after it. Callers are not told what is in it. */
export const makePageToken = ({ createdAtUs, id }: VideoListPlace): string =>
  Buffer.from(`${createdAtUs} ${id}`).toString('base64url')

/** The place that a token names; undefined for a text that is no token. */
export const parsePageToken = (token: string): VideoListPlace | undefined => {
  const [createdAtUs = '', id = '', ...rest] = Buffer.from(token, 'base64url').toString().split(' ')
  const isPlace = /^\d{1,16}$/.test(createdAtUs) && isUuid(id) && rest.length === 0
  return isPlace ? { createdAtUs, id } : undefined
}

export const judgePageToken = (token: unknown): Fault[] =>
  typeof token !== 'string' || parsePageToken(token)
    ? []
    : [
        {
          field: '?pager.page_token',
          code: 'validation_failed',
          message: `?pager.page_token must be a next_page_token of this list, got ${shown(token)}`,
        },
      ]
