import { EventEmitter } from 'node:events'
import { text } from 'node:stream/consumers'

import type { EngineDependencies, EngineHosts } from '../../../activities/engines/dependencies.ts'
import { keepEngine } from '../../../activities/engines/engine-keeper.ts'
import { createEngineActivities } from '../../../activities/engines/index.ts'
import { makeCogHost } from '../../../src/engines/cog/cog-host.ts'
import { findPredictedTask, recordPrediction } from '../../../src/engines/db/prediction.ts'
import { readPrediction } from '../../../src/engines/domain/cog/prediction.ts'
import { parseStorable } from '../../../src/platform/db/storable-text.ts'
import { makeNotifier } from '../../../src/platform/domain/notifier.ts'
import { startFakeCog, type FakeCog } from '../../support/cog/fake.ts'
import { startReceiver } from '../../support/network.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { insertTask, makeAttempts, type Place } from '../../tasks/activities/place.ts'

export const TOKEN = 'engine-token-that-nobody-may-see'

export type EngineOptions = Partial<
  Pick<
    EngineHosts,
    'isSynchronous' | 'resubmits' | 'quietMs' | 'lateMs' | 'lostMs' | 'yieldMs' | 'awayMs'
  >
> & { silenceMs?: number; depth?: number }

/** Receives webhooks as the route of an api does. */
const receivePredictions = async (place: Place, changes: EventEmitter) => {
  const { sql } = place.deps
  const statuses: number[] = []
  const { port, close } = await startReceiver((request, response) => {
    const respond = async (): Promise<number> => {
      const id = String(request.url).slice(1)
      const body = parseStorable(await text(request)) ?? {}
      const prediction = readPrediction(body, id)
      const task = await findPredictedTask(sql, id)
      if (!prediction || task === undefined) return 404
      if (!(await recordPrediction(sql, id, prediction))) return 404
      changes.emit(task)
      return 200
    }
    const receive = async (): Promise<void> => {
      const status = await respond().catch(() => 503)
      statuses.push(status)
      response.writeHead(status).end()
    }
    void receive()
  })
  return {
    statuses,
    signer: {
      signFile: place.deps.signer.signFile,
      signPrediction: (id: string) => `http://127.0.0.1:${port}/${id}`,
    },
    close,
  }
}

/** An engine `<name>` with instances `<name>@<address>`, and a worker that knows them. Names are of one test. */
export const startEngine = async (
  place: Place,
  name: string,
  given: readonly (Parameters<typeof startFakeCog>[0] & {})[],
  { silenceMs = PATIENCE_MS, depth = 1, ...times }: EngineOptions = {},
) => {
  const fakes = await Promise.all(given.map((options) => startFakeCog(options)))
  const changes = new EventEmitter()
  const receiver = await receivePredictions(place, changes)
  const made: EngineHosts[] = []
  /** One worker of several; each has a view of its own. */
  const makeWorker = (): EngineDependencies => {
    const lostMs = times.lostMs ?? PATIENCE_MS
    const fleet: EngineHosts = {
      name,
      isSynchronous: false,
      resubmits: true,
      version: '',
      instances: fakes.map(({ url }) =>
        makeCogHost({
          name: `${name}@${new URL(url).host}`,
          url,
          depth,
          token: TOKEN,
          outbound: { allowLoopback: false, ports: [], deny: [] },
          lostMs,
          silenceMs,
        }),
      ),
      stallMs: Infinity,
      quietMs: PATIENCE_MS,
      lateMs: PATIENCE_MS,
      notifier: makeNotifier(),
      followed: new Set(),
      ...times,
      lostMs,
    }
    made.push(fleet)
    return {
      ...place.deps,
      finishVideo: () => Promise.reject(new Error('this test renders no video')),
      finishSound: () => Promise.resolve(undefined),
      changes,
      signer: receiver.signer,
      fleet,
    }
  }
  const deps = makeWorker()
  return {
    fakes,
    first: fakes[0] as FakeCog,
    second: fakes[1] as FakeCog,
    deps,
    receiver,
    makeWorker,
    keep: () => keepEngine(deps),
    insert: () => insertTask(place),
    close: async () => {
      for (const { instances } of made) for (const instance of instances) instance.close()
      await Promise.all(fakes.map((fake) => fake.close()))
      await receiver.close()
    },
  }
}

export const { render, renderToEnd, renderAndStop } = makeAttempts(
  (deps: EngineDependencies) => createEngineActivities(deps).renderImageTask,
)
