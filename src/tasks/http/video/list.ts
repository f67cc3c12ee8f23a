import { withinDeadline } from '../../../platform/db/client.ts'
import { listVideoTasks, type VideoListFilter } from '../../db/video/video-list.ts'
import { isUuid } from '../../../platform/domain/uuid.ts'
import { readLabelFilter } from '../../domain/task-options.ts'
import { parseListTime } from '../../../platform/domain/time-bounds.ts'
import { VIDEO_LIST_SECONDS } from '../../domain/video/video-list.ts'
import type { VideoTaskQuery } from '../../domain/video/video-list.ts'
import type { JsonResponse } from '../../../platform/http/route.ts'
import type { TaskReadDeps } from '../../deps.ts'
import { parsePageToken, makePageToken } from '../task/page-token.ts'
import { toListed } from './record.ts'

/** Returns one page of the owner's tasks. The query is valid. */
export const listTasks = async (
  { sql, signer, now }: TaskReadDeps,
  owner: string,
  query: VideoTaskQuery,
): Promise<JsonResponse> => {
  const time = now()
  const size = query['pager.pagesz']
  // No task has an id that is not a UUID. An empty list of ids would show all tasks.
  const ids = query.task_ids?.filter(isUuid)
  const filter = { ...toFilter(query, time), owner, ids: ids ?? [], limit: size + 1 }
  // One more than the page may hold shows whether there is a next one.
  const found = ids?.length === 0 ? [] : await withinDeadline(sql, listVideoTasks(sql, filter))
  const page = found.slice(0, size)
  const last = page.at(-1)
  const nextPageToken = last && last.found > page.length ? makePageToken(last) : ''
  const tasks = page.map((task) => toListed(task, signer, time))
  return { status: 200, body: { tasks, next_page_token: nextPageToken } }
}

type Filter = Omit<VideoListFilter, 'owner' | 'ids' | 'limit'>

const toFilter = (query: VideoTaskQuery, now: Date): Filter => {
  const { 'created_at.from': from, 'created_at.to': to, 'pager.page_token': token } = query
  const after = token === undefined ? undefined : parsePageToken(token)
  return {
    from:
      from === undefined
        ? new Date(now.getTime() - VIDEO_LIST_SECONDS * 1000)
        : parseListTime(from),
    ...(to === undefined ? {} : { to: parseListTime(to) }),
    states: query.states ?? [],
    models: query.model_versions ?? [],
    resolutions: query.resolutions ?? [],
    labels: readLabelFilter(query.label),
    // A token reaches further than a page number, so it counts when both are given.
    offset: after ? 0 : (query['pager.page'] ?? 0) * query['pager.pagesz'],
    ...(after && { after }),
  }
}
