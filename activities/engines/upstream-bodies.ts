import type { TObject } from 'typebox'

import { publishUpstreamBodies } from '../../src/engines/db/upstream-body.ts'
import { readBodyMembers } from '../../src/engines/domain/upstream-document.ts'
import type { UpstreamRoute } from '../../src/engines/upstream/open.ts'
import { RULES } from '../../src/platform/db/change-notification.ts'
import type { RenderDependencies } from './dependencies.ts'

/**
 * Makes the pass that reads from the documents of upstreams what they take beside the interface, for the apis. What cannot
 * be read now stays as it was.
 */
export const makeKeepBodies =
  (
    { sql, log, notifyChange }: Pick<RenderDependencies, 'sql' | 'log' | 'notifyChange'>,
    routes: readonly UpstreamRoute[],
  ) =>
  async (signal = new AbortController().signal): Promise<void> => {
    const upstreams = [...new Set(routes.map(({ upstream }) => upstream))]
    const read = await Promise.all(upstreams.map((upstream) => upstream.readDocument(signal)))
    const bodies = routes.flatMap(({ path, body, upstream }) => {
      const document = read[upstreams.indexOf(upstream)]
      const own = Object.keys((body as TObject).properties)
      return document
        ? [{ path, members: readBodyMembers(document, upstream.pathOf(path), own) }]
        : []
    })
    const paths = routes.map(({ path }) => path)
    if (!(await publishUpstreamBodies(sql, { paths, bodies }))) return
    notifyChange(RULES)
    log.info('upstreams take other members than before: apis have them within 10 seconds')
  }
