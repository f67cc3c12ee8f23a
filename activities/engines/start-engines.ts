import type { EngineHosts } from './dependencies.ts'
import { keepEngine, makeKeepKinds } from './engine-keeper.ts'
import { makeKeepInstances } from './keep-instances.ts'
import { makeNotifier } from '../../src/platform/domain/notifier.ts'
import { startLoop } from '../../src/platform/process/loop.ts'
import type { PlatformConfig } from '../../src/platform/settings/settings.ts'
import type { WorkerBase } from '../../src/platform/worker.ts'
import { makeCogHost } from '../../src/engines/cog/cog-host.ts'
import { readEngines, type EngineConfig } from '../../src/engines/settings.ts'

/** Often enough that what nobody waits for is ended soon. */
const KEEP_MS = 2000
/** An operator who has started an engine waits for its kind. */
const FOLLOW_MS = 5000

/** Longer than a connection is lost for. */
export const AWAY_MS = 5000

/** Starts what looks after the engines of ENGINES_HTTP. */
export const startEngines = async (
  { common, outboundRules }: WorkerBase,
  config: PlatformConfig & EngineConfig,
) => {
  const { log } = common
  const fleets: EngineHosts[] = []
  const loops: ReturnType<typeof startLoop>[] = []
  for (const { name, instances, isSynchronous, resubmits, token } of readEngines(config)) {
    const lostMs = config.COMFYUI_LOST_SECONDS * 1000
    const fleet: EngineHosts = {
      name,
      isSynchronous,
      resubmits,
      version: '',
      instances: [],
      lostMs,
      stallMs: Infinity,
      quietMs: config.ENGINE_QUIET_SECONDS * 1000,
      lateMs: config.ENGINE_LATE_SECONDS * 1000,
      notifier: makeNotifier(),
      followed: new Set(),
      awayMs: AWAY_MS,
      yieldMs: 3 * config.ENGINE_QUIET_SECONDS * 1000,
    }
    const keepInstances = makeKeepInstances(
      { ...common, fleet },
      {
        read: () => Promise.resolve({ instances: [...instances], issues: {} }),
        open: (at) => makeCogHost({ ...at, depth: 0, token, outbound: outboundRules, lostMs }),
        depth: 1,
        setting: 'ENGINES_HTTP',
        engine: name,
      },
    )
    await keepInstances()
    fleets.push(fleet)
    loops.push(
      startLoop(`engine ${name}`, () => keepEngine({ ...common, fleet }), {
        intervalMs: KEEP_MS,
        log,
      }),
      startLoop(`instances of ${name}`, keepInstances, { intervalMs: FOLLOW_MS, log }),
    )
  }
  const keepKinds = makeKeepKinds(common, fleets)
  await keepKinds()
  if (fleets.length > 0) loops.push(startLoop('kinds', keepKinds, { intervalMs: FOLLOW_MS, log }))
  return { fleets, loops }
}
