import { parentPort } from 'node:worker_threads'

import type { CheckRequest } from '../domain/graph/check.ts'
import { EXPECTED, readGraph } from '../domain/graph/read-graph.ts'
import { makeRoom } from '../domain/graph/room.ts'
import type { ResolveRequest } from '../domain/graph/resolve.ts'
import { toJson } from '../domain/graph/to-json.ts'
import { ApiError, errors, shown } from '../../platform/domain/errors.ts'
import { checkGraph } from './graph-check.ts'
import type { GraphReads } from './graph-reads.ts'
import { resolveGraph } from './graph-resolve.ts'

/** Question about a workflow, which is given as JSON: that is copied several times as fast as an object. */
export type GraphQuestion = { workflow: string; bytes: number } & (
  | { name: 'resolve'; asked: Omit<ResolveRequest, 'workflow'> }
  | { name: 'check'; asked: Omit<CheckRequest, 'workflow'> }
)

/** Message of the thread. Each read is replied to with its id; every question ends with one of the last three types. */
export type GraphMessage =
  | { type: 'read'; id: number; name: keyof GraphReads; given: unknown[] }
  | { type: 'response'; text: string }
  | { type: 'rejection'; details: string[] }
  | { type: 'failure'; cause: string }

/** Reply to a read; undefined where it has failed, which ends the question. */
export interface ReadReply {
  id: number
  found: unknown
}

const port = parentPort
if (!port) throw new Error('graph-thread is started by the routes of workflows, not by itself')
const send = (message: GraphMessage): void => port.postMessage(message)

const waiting = new Map<number, (found: unknown) => void>()
let reads = 0

const read = (name: keyof GraphReads, given: unknown[]): Promise<unknown> =>
  new Promise((resolve) => {
    reads += 1
    waiting.set(reads, resolve)
    send({ type: 'read', id: reads, name, given })
  })

/** The reads of the api that has started the thread. */
const remote = new Proxy({} as GraphReads, {
  get:
    (_, name) =>
    (...given: unknown[]) =>
      read(name as keyof GraphReads, given),
})

const respond = async (question: GraphQuestion): Promise<string> => {
  const workflow = JSON.parse(question.workflow) as unknown
  const graph = readGraph(toJson(workflow))
  if (!graph)
    throw errors.validationFailed([`/workflow must be ${EXPECTED}, got ${shown(workflow)}`])
  const room = makeRoom(question.bytes)
  return JSON.stringify(
    question.name === 'resolve'
      ? await resolveGraph(remote, graph, question.asked, room)
      : await checkGraph(remote, graph, question.asked, room),
  )
}

port.on('message', (message: GraphQuestion | ReadReply) => {
  if ('found' in message) {
    waiting.get(message.id)?.(message.found)
    waiting.delete(message.id)
    return
  }
  respond(message)
    .then((text) => send({ type: 'response', text }))
    .catch((error: unknown) => {
      if (error instanceof ApiError) send({ type: 'rejection', details: error.details ?? [] })
      else send({ type: 'failure', cause: error instanceof Error ? `${error.stack}` : 'unknown' })
    })
})
