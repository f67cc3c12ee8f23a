import assert from 'node:assert/strict'
import { join } from 'node:path'

import type { ComfyDependencies, Fleet } from '../../../activities/engines/dependencies.ts'
import { keepFleet } from '../../../activities/engines/comfyui-keeper.ts'
import { createComfyActivities } from '../../../activities/engines/index.ts'
import { makeInstance, type Instance } from '../../../src/engines/comfyui/instance.ts'
import { readTemplates } from '../../../src/engines/comfyui/templates.ts'
import type { Template } from '../../../src/engines/domain/template/template.ts'
import { makeNotifier } from '../../../src/platform/domain/notifier.ts'
import { ROOT } from '../../../src/local/root.ts'
import {
  startFakeComfy,
  type FakeComfy,
  type FakeComfyOptions,
} from '../../support/comfyui/fake.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { insertTask, makeAttempts, type Place } from '../../tasks/activities/place.ts'

export const TOKEN = 'comfyui-token-that-nobody-may-see'

const loadTemplates = async (): Promise<Template[]> => {
  const folder = join(ROOT, 'deploy/comfyui/templates')
  const { templates, unusable } = await readTemplates(folder, {
    listKinds: () => Promise.resolve([]),
  })
  assert.deepEqual(unusable, {})
  return templates
}

type FleetTimes = Partial<Pick<Fleet, 'loadMs' | 'lostMs' | 'stallMs' | 'awayMs'>> & {
  silenceMs?: number
  depth?: number
}

/** Instances `<test>-1`, `<test>-2`, …, and a worker that knows them. Names are of one test, because rows are shared. */
export const startFleet = async (
  place: Place,
  name: string,
  given: readonly FakeComfyOptions[],
  { silenceMs = PATIENCE_MS, depth = 2, ...times }: FleetTimes = {},
) => {
  const fakes = await Promise.all(given.map((options) => startFakeComfy(options)))
  const lostMs = times.lostMs ?? PATIENCE_MS
  const templates = await loadTemplates()
  const open = (at: { name: string; url: string; depth?: number }): Instance =>
    makeInstance({
      depth: 0,
      ...at,
      token: TOKEN,
      outbound: { allowLoopback: false, ports: [], deny: [] },
      lostMs,
      silenceMs,
    })
  /** One worker of several; each has a view of its own. */
  const makeWorker = (): ComfyDependencies => ({
    ...place.deps,
    finishVideo: () => Promise.reject(new Error('this test renders no video')),
    finishSound: () => Promise.resolve(undefined),
    fleet: {
      instances: fakes.map(({ url }, index) => open({ name: `${name}-${index + 1}`, url, depth })),
      templates: templates.filter(({ kind }) => kind !== undefined),
      custom: templates.filter(({ kind }) => kind === undefined),
      unusable: {},
      loadMs: PATIENCE_MS,
      stallMs: PATIENCE_MS,
      notifier: makeNotifier(),
      ...times,
      lostMs,
    },
  })
  const deps = makeWorker()
  return {
    fakes,
    first: fakes[0] as FakeComfy,
    deps,
    open,
    makeWorker,
    close: async () => {
      for (const { client } of deps.fleet.instances) client.close()
      await Promise.all(fakes.map((fake) => fake.close()))
    },
    keep: () => keepFleet(deps),
    insert: () => insertTask(place),
  }
}

export const { attempt, render, renderToEnd, renderAndStop } = makeAttempts(
  (deps: ComfyDependencies) => createComfyActivities(deps).renderImageTask,
)
