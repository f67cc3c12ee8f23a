import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { connect, createServer } from 'node:net'
import { after, before, describe, test } from 'node:test'

import {
  listenForFirstAttempts,
  listenForChanges,
  makeNotifyChange,
} from '../../../src/platform/db/change-notification.ts'
import { listen } from '../../support/network.ts'
import { useDatabase } from '../../support/stack.ts'
import { waitFor } from '../../support/wait.ts'
import { insertTaskWithWebhook } from '../../events/db/notified-task.ts'

const STANDBY = Buffer.from('in_hot_standby\0off\0')

/** A server that calls itself a standby until it is promoted. */
const startStandby = async (target: string, onConnection: () => void) => {
  const { hostname, port } = new URL(target)
  let isStandby = true
  /** Rewrites what a server reports of itself: `S`, the length of the rest in four bytes, name and value. */
  const disguise = (chunk: Buffer): Buffer => {
    const at = chunk.indexOf(STANDBY)
    if (!isStandby || at === -1) return chunk
    const [before, after] = [chunk.subarray(0, at), chunk.subarray(at + STANDBY.length)]
    before.writeUInt32BE(before.readUInt32BE(at - 4) - 1, at - 4)
    return Buffer.concat([before, Buffer.from('in_hot_standby\0on\0'), after])
  }
  const server = createServer((client) => {
    onConnection()
    const upstream = connect(Number(port), hostname)
    const end = (): void => void [client.destroy(), upstream.destroy()]
    for (const socket of [client, upstream]) socket.on('error', end).on('close', end)
    client.pipe(upstream)
    upstream.on('data', (chunk: Buffer) => client.write(disguise(chunk)))
  })
  const listening = await listen(server)
  const url = Object.assign(new URL(target), { port: String(listening.port) }).href
  return { url, promote: () => (isStandby = false), close: listening.close }
}

describe('change notifications', () => {
  const { sql, url } = useDatabase()
  const notifyChange = makeNotifyChange(sql)
  const received: string[] = []
  let attempts = 0
  let stops: (() => Promise<void>)[] = []
  before(async () => {
    let listening = 0
    const onConnect = () => void (listening += 1)
    stops = [
      listenForChanges({ url, name: 'changes', onChange: (id) => received.push(id), onConnect }),
      listenForFirstAttempts({ url, name: 'attempts', onChange: () => (attempts += 1), onConnect }),
    ]
    await waitFor('both listen', () => listening === 2)
  })
  after(() => Promise.all(stops.map((stop) => stop())))

  const enqueue = async (...ids: string[]): Promise<void> => {
    for (const id of ids) notifyChange(id)
    await waitFor('all are heard', () => ids.every((id) => received.includes(id)))
  }

  test('come for each row, and for first attempts where some wait', async () => {
    const [quiet, more] = [randomUUID(), randomUUID()]
    await enqueue(quiet, more)
    await enqueue(await insertTaskWithWebhook(sql, ['IN_PROGRESS'], { url: null }))
    const enqueued = await insertTaskWithWebhook(sql, ['IN_PROGRESS'])
    await enqueue(enqueued)
    await waitFor('first attempts are notified', () => attempts > 0)
    // Those before it came on the same connection, and would have come first.
    assert.equal(attempts, 1)
    assert.deepEqual(received.slice(0, 2).toSorted(), [quiet, more].toSorted())
  })

  test('are not listened for on a server that takes no changes', async () => {
    // As a standby responds before its promotion, which leaves the connection as it is.
    let [asked, connected] = [0, 0]
    const proxy = await startStandby(url, () => (asked += 1))
    const stop = listenForChanges({
      url: proxy.url,
      name: 'standby',
      onChange: () => {},
      onConnect: () => (connected += 1),
    })
    await waitFor('it asks again', () => asked > 1)
    assert.equal(connected, 0)
    proxy.promote()
    await waitFor('it listens', () => connected > 0)
    await stop()
    await proxy.close()
  })
})
