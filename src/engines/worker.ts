import { EventEmitter } from 'node:events'

import { Worker, type WorkerOptions } from '@temporalio/worker'

import { makeBreaker } from '../../activities/engines/breaker.ts'
import { keepFleet } from '../../activities/engines/comfyui-keeper.ts'
import { makeKeepTemplates } from '../../activities/engines/comfyui-templates.ts'
import type { Fleet, Hosts } from '../../activities/engines/dependencies.ts'
import {
  createComfyActivities,
  createEngineActivities,
  createLocalActivities,
  createVendorActivities,
} from '../../activities/engines/index.ts'
import { makeKeepInstances } from '../../activities/engines/keep-instances.ts'
import { NO_CALLER_VIDEO } from './domain/caller-video.ts'
import { listGaps } from './domain/template/gaps.ts'
import { findVideoBinaries, type VideoBinaries } from '../../packages/engines/src/binaries.ts'
import { findChildUser } from '../platform/adapters/child-user.ts'
import { cleanUpOrphans } from '../platform/adapters/orphan.ts'
import { listenForChanges } from '../platform/db/change-notification.ts'
import { makeNotifier } from '../platform/domain/notifier.ts'
import { startLoop } from '../platform/process/loop.ts'
import { startScratch, type Scratch } from '../platform/process/scratch.ts'
import { readAddresses, type PlatformConfig } from '../platform/settings/settings.ts'
import { comfyuiQueue, engineQueue, mediaQueue, upstreamQueue } from '../platform/temporal/start.ts'
import type { WorkerBase } from '../platform/worker.ts'
import {
  readAdmission,
  readHeartbeats,
  readMediaLimits,
  type TaskConfig,
} from '../tasks/settings.ts'
import type { EngineName } from '../tasks/domain/engine.ts'
import { CUSTOM } from '../tasks/domain/custom-kind.ts'
import { AWAY_MS, startEngines } from '../../activities/engines/start-engines.ts'
import { makeKeepBodies } from '../../activities/engines/upstream-bodies.ts'
import { makeInstance } from './comfyui/instance.ts'
import { listComfyKinds } from './comfyui/kinds.ts'
import { makeReadInstances } from './comfyui/sources.ts'
import { makeLocalImageEngine } from './image-engine/local.ts'
import { readEngines, readFleetItems, type EngineConfig } from './settings.ts'
import { makeActivityTuner } from './temporal/activity-tuner.ts'
import { openUpstreams } from './upstream/open.ts'
import {
  makeLocalFinishSound,
  makeLocalFinishVideo,
  makeLocalVideoEngine,
} from './video-engine/local.ts'

type Config = PlatformConfig & TaskConfig & EngineConfig

/** Workers of an engine, and how whatever runs beside them stops after them. */
interface Rendering {
  workers: Worker[]
  /** Tasks at once, by engine, for the beat of this process. */
  slots(): Partial<Record<EngineName, number>>
  stop(): Promise<void>
}

/** Often enough that files of callers do not stay, and a restart is seen. */
const KEEP_MS = 2000
/** An operator who has saved a template, or a file of instances, waits for it. */
const FOLLOW_MS = 5000
/** A document of an upstream has a megabyte, and changes with its releases. */
const BODIES_MS = 60_000
/** Tasks of a fleet beside those on instances: they fetch their files. */
const FURTHER_TASKS = 4

/** Dependencies that all renders of a worker share, and what listens for them. */
const makeRenders = ({ common, jobs, outbound }: WorkerBase, config: Config) => {
  const { beatSeconds } = readHeartbeats(config)
  const isNotified = beatSeconds > 1 || readEngines(config).length > 0
  const changes = isNotified ? new EventEmitter().setMaxListeners(0) : undefined
  const stopListening =
    changes &&
    listenForChanges({
      url: readAddresses(config).direct,
      onConnect: () => {},
      name: `kiln worker ${config.WORKER_ROLE} changes`,
      onChange: (id) => void changes.emit(id),
    })
  return {
    deps: {
      ...common,
      ...readAdmission(config),
      jobs,
      changes,
      breaker: makeBreaker(common, {
        max: config.BREAKER_FAILURES,
        openSeconds: config.BREAKER_SECONDS,
      }),
      outbound,
      limits: readMediaLimits(config),
    },
    /**
     * The SDK sends the newest heartbeat of a render so often. A cancelled one should stop soon, so they are not delayed for
     * most of the time-out; where they are few, a notification of the change stops it instead.
     */
    heartbeats: {
      maxHeartbeatThrottleInterval: beatSeconds * 1000,
      defaultHeartbeatThrottleInterval: beatSeconds * 1000,
    },
    stop: async () => await stopListening?.(),
  }
}

/** Work of another area in a media worker beside renders, in the folder of its process. */
type Further = (place: { dir: string; user: VideoBinaries['user'] }) => {
  activities: object
  close(): Promise<void>
}

/** Starts a media worker: everything that takes CPU. */
export const makeMediaRendering = async (
  base: WorkerBase,
  config: Config,
  { further, searchPath, files }: { further: Further } & ProgramPlace,
): Promise<Rendering> => {
  const scratch = await startRenderScratch(base, 'render')
  const binaries = await findBinaries(base, config, { dir: scratch.dir, searchPath, files })
  const renders = makeRenders(base, config)
  const beside = further({ dir: scratch.dir, user: binaries.user })
  const worker = await Worker.create({
    ...base.temporal,
    taskQueue: mediaQueue(config.TASK_QUEUE),
    activities: {
      ...createLocalActivities({
        ...renders.deps,
        engine: makeLocalImageEngine({ maxPixels: config.IMAGE_MAX_PIXELS }),
        videoEngine: makeLocalVideoEngine({ binaries, maxPixels: config.IMAGE_MAX_PIXELS }),
        scratchDir: scratch.dir,
        tinyVideos: config.VIDEO_TINY,
      }),
      ...beside.activities,
    },
    maxConcurrentActivityTaskExecutions: config.MEDIA_SLOTS,
    ...renders.heartbeats,
    shutdownGraceTime: '30 seconds',
    shutdownForceTime: '40 seconds',
  })
  return {
    workers: [worker],
    slots: () => ({ local: config.MEDIA_SLOTS }),
    async stop() {
      await beside.close()
      await Promise.all([scratch.stop(), renders.stop()])
    },
  }
}

/** Starts the workers of a core worker whose tasks are rendered elsewhere: at upstreams, and at a fleet of ComfyUI. */
export const makeRemoteRendering = async (
  base: WorkerBase,
  config: Config,
  programs: ProgramPlace,
): Promise<Rendering> => {
  const { common, temporal, outboundRules, makeLinks } = base
  const { log } = common
  const upstreams = openUpstreams(config, outboundRules)
  const isVendor = Object.keys(upstreams.find).length > 0
  const keepBodies = makeKeepBodies(common, upstreams.routes)
  if (!isVendor) await keepBodies()
  const items = readFleetItems(config)
  const fleet = items.length > 0 ? makeFleet(config) : undefined
  const engines = await startEngines(base, config)
  if (!isVendor && !fleet && engines.fleets.length === 0)
    return { workers: [], slots: () => ({}), stop: () => Promise.resolve() }
  const keepInstances =
    fleet &&
    makeKeepInstances(
      { ...common, fleet },
      {
        read: makeReadInstances(items),
        open: (at) =>
          makeInstance({
            ...at,
            depth: 0,
            token: config.COMFYUI_TOKEN,
            outbound: outboundRules,
            lostMs: fleet.lostMs,
          }),
        depth: config.COMFYUI_DEPTH,
        setting: 'COMFYUI_URLS',
        engine: null,
      },
    )
  await keepInstances?.()
  const taken = engines.fleets.map(({ name }) => name)
  const keepTemplates =
    fleet && makeKeepTemplates({ ...common, fleet }, config.COMFYUI_TEMPLATES, taken)
  await keepTemplates?.()
  const gaps = fleet ? listGaps([...fleet.templates, ...fleet.custom], listComfyKinds(config)) : []
  if (gaps.length > 0) log.warn({ reasons: gaps }, 'templates and the engines of kinds do not fit')
  const clash = taken.find((name) => fleet && `${CUSTOM}${name}.json` in fleet.unusable)
  if (clash !== undefined) {
    log.fatal(`ENGINES_HTTP and COMFYUI_TEMPLATES both have ${clash}: rename one of them`)
    process.exit(1)
  }
  const scratch = await (fleet || taken.length > 0
    ? startRenderScratch(base, 'upstream')
    : startScratch('upstream', common))
  const renders = makeRenders(base, config)
  const deps = {
    ...renders.deps,
    scratchDir: scratch.dir,
    // Each release ends all attempts, and an off-peak task waits for two days.
    maxAttempts: 1000,
  }
  const makeWorker = (
    options: Pick<
      WorkerOptions,
      'taskQueue' | 'activities' | 'maxConcurrentActivityTaskExecutions' | 'tuner'
    >,
  ): Promise<Worker> =>
    Worker.create({
      ...temporal,
      ...options,
      ...renders.heartbeats,
      // The next attempt goes on where this one stops, so nobody waits for an upstream. A submission under way has 10 s.
      shutdownGraceTime: '1 second',
      shutdownForceTime: '20 seconds',
    })
  const makeFinishing = async () => {
    const binaries = await findBinaries(base, config, { dir: scratch.dir, ...programs })
    const video = { binaries, maxPixels: config.IMAGE_MAX_PIXELS }
    return {
      videoEngine: makeLocalVideoEngine(video),
      finishVideo: makeLocalFinishVideo(video),
      finishSound: makeLocalFinishSound(video),
    }
  }
  const finishing = fleet || taken.length > 0 ? await makeFinishing() : undefined
  const workers = await Promise.all([
    ...(isVendor
      ? [
          makeWorker({
            taskQueue: upstreamQueue(config.TASK_QUEUE),
            activities: createVendorActivities({
              ...deps,
              signer: makeLinks(),
              upstreams: upstreams.find,
            }),
            maxConcurrentActivityTaskExecutions: config.VENDOR_SLOTS,
          }),
        ]
      : []),
    ...(fleet && finishing
      ? [
          makeWorker({
            taskQueue: comfyuiQueue(config.TASK_QUEUE),
            activities: createComfyActivities({ ...deps, ...finishing, fleet }),
            // A task that waits in Temporal has not begun.
            tuner: makeActivityTuner(() => countSlots(fleet) + FURTHER_TASKS),
          }),
        ]
      : []),
    ...(finishing ? engines.fleets : []).map((engine) =>
      makeWorker({
        taskQueue: engineQueue(config.TASK_QUEUE, engine.name),
        activities: createEngineActivities({
          ...deps,
          ...(finishing as Awaited<ReturnType<typeof makeFinishing>>),
          fleet: engine,
          signer: makeLinks(),
        }),
        tuner: makeActivityTuner(() => countSlots(engine) + FURTHER_TASKS),
      }),
    ),
  ])
  const loops = [
    ...(fleet
      ? [startLoop('comfyui', () => keepFleet({ ...common, fleet }), { intervalMs: KEEP_MS, log })]
      : []),
    ...(keepInstances
      ? [startLoop('instances', keepInstances, { intervalMs: FOLLOW_MS, log })]
      : []),
    ...(keepTemplates
      ? [startLoop('templates', keepTemplates, { intervalMs: FOLLOW_MS, log })]
      : []),
    ...(isVendor ? [startLoop('bodies', keepBodies, { intervalMs: BODIES_MS, log })] : []),
    ...engines.loops,
  ]
  return {
    workers,
    slots: () => ({
      ...(isVendor && { vendor: config.VENDOR_SLOTS }),
      ...(fleet && { comfyui: countSlots(fleet) }),
      ...Object.fromEntries(engines.fleets.map((engine) => [engine.name, countSlots(engine)])),
    }),
    async stop() {
      upstreams.close()
      await Promise.all(loops.map((loop) => loop.stop()))
      for (const { instances } of [...(fleet ? [fleet] : []), ...engines.fleets])
        for (const instance of instances) instance.close()
      await Promise.all([scratch.stop(), renders.stop()])
    },
  }
}

const countSlots = ({ instances }: Hosts): number =>
  instances.reduce((sum, { depth }) => sum + depth, 0)

const makeFleet = (config: Config): Fleet => ({
  instances: [],
  templates: [],
  custom: [],
  unusable: {},
  loadMs: LOAD_MS,
  lostMs: config.COMFYUI_LOST_SECONDS * 1000,
  stallMs: config.COMFYUI_STALL_SECONDS * 1000,
  notifier: makeNotifier(),
  followed: new Set(),
  yieldMs: YIELD_MS,
  awayMs: AWAY_MS,
})

/** Longer than Temporal takes to give the tasks of a killed worker to another. */
const YIELD_MS = 60_000
/** Time to load models of 10 GB from a fast disk. */
const LOAD_MS = 10_000

interface ProgramPlace {
  /** Folders in which programs are looked for. */
  searchPath: string
  /** Files beside them that a child has to read. */
  files: readonly string[]
}

/** Logs which programs render, and as which user. Where one cannot be used, ends the worker and says what to set. */
const findBinaries = async (
  { common: { log } }: WorkerBase,
  config: Config,
  { dir, searchPath, files }: ProgramPlace & { dir: string },
): Promise<VideoBinaries> => {
  try {
    const binaries = await findVideoBinaries({
      ffmpegPath: config.FFMPEG_PATH,
      searchPath,
      production: config.NODE_ENV === 'production',
    })
    const { ffmpeg, ffprobe, readsCallerVideo, setpriv } = binaries
    const programs = [process.execPath, ffmpeg.path, ffprobe.path]
    const user = await findChildUser(dir, { programs, files })
    const facts = { reads_caller_video: readsCallerVideo, setpriv: setpriv !== undefined }
    log.info({ ffmpeg, ffprobe, ...facts, child_user: user?.uid }, 'video programs found')
    if (!readsCallerVideo) log.warn(`${ffmpeg.path}: ${NO_CALLER_VIDEO}`)
    return { ...binaries, user }
  } catch (error) {
    log.fatal(error instanceof Error ? error.message : String(error))
    process.exit(1)
  }
}

/**
 * Ends the process groups that a killed worker left, before the folders that name them are cleaned up. The next worker that
 * starts does so, or one that runs: a child that hangs does not notice that its parent is gone.
 */
const startRenderScratch = async (
  { common }: WorkerBase,
  purpose: 'render' | 'upstream',
): Promise<Scratch> => {
  const dir = await common.storage.scratchDir(purpose)
  const beforeCleanUp = async (): Promise<void> => {
    const killed = await cleanUpOrphans(dir)
    if (killed > 0) common.log.warn({ killed }, 'ended what a killed worker had left running')
  }
  await beforeCleanUp()
  return await startScratch(purpose, { ...common, beforeCleanUp })
}
