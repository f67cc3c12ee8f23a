import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'

import { listVideoTasks, type VideoListFilter } from '../../../src/tasks/db/video/video-list.ts'
import { finishVideo, getVideo } from '../activities/video-place.ts'
import { useDatabase } from '../../support/stack.ts'

const NOON = '2026-01-01T12:00:00.000Z'

describe('the list of video tasks', () => {
  const database = useDatabase()
  /** Ids in the order of the list: of the last five, made at one time, the greatest comes first. */
  let ids: string[] = []

  before(async () => {
    const insert = (model: string, resolution: string, make: typeof getVideo = getVideo) =>
      make(database, { settings: { model, resolution, duration: 4 } })
    const newest = [
      await insert('videoq1', '1080p', finishVideo),
      await insert('videoq2-pro', '720p'),
      await insert('videoq2-pro', '1080p'),
    ]
    for (const [index, id] of newest.entries())
      await database.sql`
        update task set created_at = ${NOON}::timestamptz + make_interval(hours => ${3 - index})
        where id = ${id}
      `
    const same: string[] = []
    for (let count = 0; count < 5; count += 1) same.push(await insert('video2.0', '360p'))
    // Microseconds, which no Date of JavaScript keeps.
    await database.sql`
      update task set created_at = ${NOON}::timestamptz + interval '123456 microseconds'
      where id = any(${same}::uuid[])
    `
    ids = [...newest, ...same.toSorted().toReversed()]
    await getVideo(database, { owner: 'bob' })
    await getVideo(database, { owner: 'anonymous' })
  })

  const list = (filter: Partial<VideoListFilter> = {}) =>
    listVideoTasks(database.sql, {
      owner: 'alice',
      from: new Date(0),
      ids: [],
      states: [],
      models: [],
      resolutions: [],
      limit: 100,
      offset: 0,
      ...filter,
    })
  const listIds = async (filter?: Partial<VideoListFilter>): Promise<string[]> =>
    (await list(filter)).map(({ id }) => id)

  test('ends a page early when its payloads are large as JSON, and says that there are more', async () => {
    const [first, second, third] = ids
    const fill = (id: string | undefined, text: string, times: number) =>
      database.sql`update task set payload = repeat(${text}, ${times}) where id = ${id ?? null}`
    for (const [text, times] of [
      // Six bytes each, two bytes each, one byte each.
      ['\u0001', 500_000],
      ['"', 1_500_000],
      ['x', 3_000_000],
    ] as const) {
      await fill(second, text, times)
      await fill(third, text, times)
      const page = (await list({ limit: 3 })).map(({ id, found }) => ({ id, found }))
      const [one, two] = [first, second].map((id) => ({ id, found: 3 }))
      assert.deepEqual(page, [one, two])
    }
    await fill(third, '\u0001', 1_000_000)
    assert.deepEqual(await listIds({ ids: [third ?? ''] }), [third])
    await database.sql`update task set payload = null where owner = 'alice'`
  })

  const hours = (count: number): Date => new Date(Date.parse(NOON) + count * 3_600_000)
  const FILTERS: [what: string, filter: Partial<VideoListFilter>, expected: number[]][] = [
    ['a time to begin with, which counts', { from: hours(1) }, [0, 1, 2]],
    ['a time to end with, which does not', { from: hours(1), to: hours(3) }, [1, 2]],
    ['all of them', { models: ['videoq2-pro'], resolutions: ['1080p'], states: ['created'] }, [2]],
    ['a filter that nothing meets', { states: ['success'], models: ['videoq2-pro'] }, []],
  ]
  for (const [what, filter, expected] of FILTERS)
    test(`is narrowed by ${what}`, async () => {
      const wanted = expected.map((index) => ids[index])
      assert.deepEqual(await listIds(filter), wanted)
    })

  for (const limit of [1, 2, 3, 8])
    test(`comes in pages of ${limit} by the last task of the page before, each task once`, async () => {
      const found: string[] = []
      for (;;) {
        const last = found.length > 0 ? (await list({ ids: found })).at(-1) : undefined
        const page = await list({ limit, ...(last && { after: last }) })
        if (page.length === 0) break
        found.push(...page.map(({ id }) => id))
      }
      assert.deepEqual(found, ids)
    })

  test('goes on where it was although a newer task has come meanwhile', async () => {
    const [, second] = await list({ limit: 2 })
    assert.ok(second, 'there is a second task')
    await getVideo(database)
    assert.deepEqual(await listIds({ after: second, limit: 3 }), ids.slice(2, 5))
  })
})
