import { once } from 'node:events'
import { mkdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { homedir } from 'node:os'
import { join } from 'node:path'

import { openTemporal } from '../platform/temporal/connection.ts'
import { startChild, untilReady } from './child.ts'
import { findPort } from './port.ts'
import { startServer, untilResponds, type OnSpawn, type Server } from './server.ts'
import type { TemporalCli } from './temporal-cli.ts'

export interface TemporalOptions {
  cli: TemporalCli
  /** Folder of the database file and the log. */
  dataDir: string
  /** Free ones when absent. */
  port?: number
  uiPort?: number
  /** Values of dynamic configuration that differ from those of `npm start`. */
  dynamicConfig?: Record<string, unknown>
}

/** A development server that can be started: its addresses do not change from one start to the next. */
export interface TemporalCluster {
  /** host:port of the frontend. */
  address: string
  /** Address of the web interface. */
  ui: string
  /** Starts the server; resolves when its default namespace responds. */
  launch: (onSpawn: OnSpawn) => Promise<void>
}

export interface TemporalServer extends Server {
  address: string
  ui: string
}

const READY_MS = 60_000
const STOP_MS = 15_000
const HOST = '127.0.0.1'

/** Starts a Temporal development server on 127.0.0.1. Its state survives restarts, and kill -9, but not a power cut. */
export const startTemporal = async (options: TemporalOptions): Promise<TemporalServer> => {
  const { address, ui, launch } = await prepareTemporal(options)
  return Object.assign(await startServer(launch), { address, ui })
}

/** Picks the ports and the database file. */
export const prepareTemporal = async (options: TemporalOptions): Promise<TemporalCluster> => {
  const { cli, dataDir } = options
  await mkdir(dataDir, { recursive: true })
  const port = options.port ?? (await findPort())
  const uiPort = options.uiPort ?? (await findPort())
  // A newer server does not migrate an older one's file.
  const file = join(dataDir, `temporal-${cli.serverVersion}.db`)
  const address = `${HOST}:${port}`
  return {
    address,
    ui: `http://${HOST}:${uiPort}`,
    launch: async (onSpawn) => {
      const child = await startChild({
        name: 'Temporal',
        command: cli.path,
        args: [...makeArguments(port, uiPort, file), ...makeDynamicConfig(options.dynamicConfig)],
        // Of the caller's TEMPORAL_* variables none is about this server.
        env: { PATH: process.env['PATH'], HOME: homedir() },
        cwd: dataDir,
        stopSignal: 'SIGTERM',
        deathSignal: 'SIGTERM',
        stopMs: STOP_MS,
        logPath: join(dataDir, 'temporal.log'),
      })
      onSpawn(child)
      await untilReady(
        child,
        'Temporal',
        async (signal) => await waitUntilResponds(address, signal),
      )
    },
  }
}

const makeArguments = (port: number, uiPort: number, file: string): string[] => [
  'server',
  'start-dev',
  `--ip=${HOST}`,
  `--port=${port}`,
  `--ui-port=${uiPort}`,
  `--db-filename=${file}`,
  '--sqlite-pragma=journal_mode=WAL',
  '--sqlite-pragma=synchronous=1',
  '--ui-disable-news-fetch',
  '--log-level=warn',
  '--color=never',
]

const makeDynamicConfig = (others: TemporalOptions['dynamicConfig']): string[] =>
  Object.entries({ ...DYNAMIC_CONFIG, ...others }).map(
    ([key, value]) => `--dynamic-config-value=${key}=${JSON.stringify(value)}`,
  )

const DYNAMIC_CONFIG = {
  // The default of 20 polls a second adds up to 50 ms to every step on the one shard of this server:
  // a workflow of three steps takes 150 ms with it and 45 ms with this.
  'history.transferProcessorMaxPollRPS': 1000,
  'history.timerProcessorMaxPollRPS': 1000,
  // One node needs no partitions: 10 to 20 % more workflows a second without them.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
  'matching.enableFairness': true,
  // No call home.
  'frontend.enableServerVersionCheck': false,
}

const waitUntilResponds = async (address: string, signal: AbortSignal): Promise<void> => {
  const attempt = async (): Promise<void> => {
    await connectOnce(address)
    await describeDefaultNamespace(address)
  }
  const wait = { signal, limitMs: READY_MS, pauseMs: 50 }
  await untilResponds(`Temporal at ${address}`, attempt, wait)
}

/** Before the port is open a gRPC connection would be rejected and wait a second until it tries again. */
const connectOnce = async (address: string): Promise<void> => {
  const { hostname, port } = new URL(`tcp://${address}`)
  const socket = connect(Number(port), hostname)
  try {
    await once(socket, 'connect')
  } finally {
    socket.destroy()
  }
}

/** The port is open some time before the namespace is there. */
const describeDefaultNamespace = async (address: string): Promise<void> => {
  const connection = openTemporal({ address, namespace: 'default' }, { connectTimeout: 1000 })
  try {
    await connection.withDeadline(
      Date.now() + 1000,
      async () => await connection.workflowService.describeNamespace({ namespace: 'default' }),
    )
  } finally {
    await connection.close()
  }
}
