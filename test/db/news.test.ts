import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, describe, test } from 'node:test'

import { listenForFirstTries, listenForNews, makeNews } from '../../src/db/shared/news.ts'
import { useDatabase } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { insertToldTask } from './told-task.ts'

describe('news', () => {
  const { sql, url } = useDatabase()
  const news = makeNews(sql)
  const heard: string[] = []
  let tries = 0
  let stops: (() => Promise<void>)[] = []
  before(async () => {
    let listening = 0
    const onConnect = () => void (listening += 1)
    stops = [
      listenForNews({ url, name: 'news', onNews: (id) => heard.push(id), onConnect }),
      listenForFirstTries({ url, name: 'tries', onNews: () => (tries += 1), onConnect }),
    ]
    await waitFor('both listen', () => Promise.resolve(listening === 2))
  })
  after(() => Promise.all(stops.map((stop) => stop())))

  const tell = async (...ids: string[]): Promise<void> => {
    for (const id of ids) news(id)
    await waitFor('all are heard', () => Promise.resolve(ids.every((id) => heard.includes(id))))
  }

  test('is heard of each row, and of first tries where some wait', async () => {
    const [quiet, more] = [randomUUID(), randomUUID()]
    await tell(quiet, more)
    await tell(await insertToldTask(sql, ['IN_PROGRESS'], { url: null }))
    const told = await insertToldTask(sql, ['IN_PROGRESS'])
    await tell(told)
    await waitFor('the tries are heard of', () => Promise.resolve(tries > 0))
    // Those before it came on the same connection, and would have come first.
    assert.equal(tries, 1)
    assert.deepEqual(heard.slice(0, 2).toSorted(), [quiet, more].toSorted())
  })
})
