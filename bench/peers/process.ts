import express from 'express'

import { say } from '../support/figures.ts'
import type { PeerOptions } from './queue.ts'
import { makeQueue, makeTasks } from './task.ts'

/** The api of a peer, or its worker: `node … process.ts api|worker <PeerOptions>`. */
const [, , role, json = '{}'] = process.argv
const options = JSON.parse(json) as PeerOptions
const queue = makeQueue(options)
const tasks = makeTasks(options, queue)
const ready = () => say('{"msg":"peer ready"}')

if (role === 'worker') {
  await queue.work(tasks)
  ready()
} else {
  const app = express()
  // The caller names a task, so that one that is sent again is the same task.
  app.post('/tasks', express.json({ limit: '50mb' }), async ({ headers, body }, response) => {
    const id = String(headers['idempotency-key'])
    await tasks.accept(id, body as { image: string; url: string })
    response.json({ data: { task_id: id, status: 'CREATED', generated: [] } })
  })
  app.listen(options.port, '127.0.0.1', ready)
}
