import assert from 'node:assert/strict'
import { test } from 'node:test'

import { listVideoTasks } from '../../../src/tasks/db/video/video-list.ts'
import { getVideo } from '../activities/video-place.ts'
import { useDatabase } from '../../support/stack.ts'

const { sql } = useDatabase()

test('a page of video tasks ends early when its payloads are large as JSON, and says that there are more', async () => {
  const oldest = await getVideo({ sql })
  const [third, second, first] = [oldest, await getVideo({ sql }), await getVideo({ sql })]
  const any = { ids: [], states: [], models: [], resolutions: [], offset: 0 }
  const list = (filter: { ids?: string[] } = {}) =>
    listVideoTasks(sql, { owner: 'alice', from: new Date(0), limit: 3, ...any, ...filter })
  const fill = (id: string | undefined, text: string, times: number) =>
    sql`update task set payload = repeat(${text}, ${times}) where id = ${id ?? null}`
  for (const [text, times] of [
    // Six bytes each, two bytes each, one byte each.
    ['\u0001', 500_000],
    ['"', 1_500_000],
    ['x', 3_000_000],
  ] as const) {
    await fill(second, text, times)
    await fill(third, text, times)
    const page = (await list()).map(({ id, found }) => ({ id, found }))
    const [one, two] = [first, second].map((id) => ({ id, found: 3 }))
    assert.deepEqual(page, [one, two])
  }
  await fill(third, '\u0001', 1_000_000)
  assert.deepEqual(
    (await list({ ids: [third] })).map(({ id }) => id),
    [third],
  )
})
