import { execFile, spawnSync } from 'node:child_process'
import { access, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { Connection } from '@temporalio/client'

import { makeCertificate } from '../support/certificate.ts'
import { startLink, type Link } from '../support/link.ts'
import { startNameServer } from '../support/name-server.ts'
import { startWebhookReceiver } from '../support/receiver.ts'
import { whyNoS3Server } from '../support/s3-server.ts'
import { startTemporalOnPostgres, whyNoTemporalServer } from '../support/temporal-postgres.ts'
import type { OwnPostgres, OwnTemporal } from '../faults/servers.ts'

const run = promisify(execFile)

const UNMOUNT = 'umount'
const FAKETIME = '/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1'

/** Needs of some faults beyond those of every run: each says why it cannot be had here, or undefined when it can. */
export const EXTRAS = {
  /** A clock of its own for each process. */
  clock: async () =>
    await access(FAKETIME).then(
      () => undefined,
      () => `no ${FAKETIME} (apt-get install faketime)`,
    ),
  /** A disk of its own for the store. */
  disk: () => Promise.resolve(process.getuid?.() === 0 ? undefined : 'only root mounts a tmpfs'),
  /** Temporal with PostgreSQL as its store. */
  'temporal-store': whyNoTemporalServer,
  /** A bucket as our store. */
  s3: whyNoS3Server,
} satisfies Record<string, () => Promise<string | undefined>>

export type Extra = keyof typeof EXTRAS

/** A small disk mounted over a folder. */
export const mountDisk = async (folder: string) => {
  await mkdir(folder, { recursive: true })
  await run('mount', ['-t', 'tmpfs', '-o', 'size=512m,mode=0755', 'tmpfs', folder])
  const unmount = () => void spawnSync(UNMOUNT, ['--lazy', folder], { stdio: 'ignore' })
  process.once('exit', unmount)
  const filling = join(folder, '.filling')
  return {
    /** Takes all the space that is left. */
    fill: async () => await run('dd', ['if=/dev/zero', `of=${filling}`, 'bs=1M']).catch(() => {}),
    free: async () => await run('rm', ['-f', filling]),
    // Whoever still has files there keeps them to its end.
    stop: () => Promise.resolve(unmount()),
  }
}

/** Clocks of processes that can be set while they run; those that measure time are left alone. */
export const makeClocks = (folder: string) => {
  const fileOf = (member: string) => join(folder, `clock-${member}`)
  return {
    set: async (member: string, offset: string) => await writeFile(fileOf(member), offset),
    envOf: (member: string): NodeJS.ProcessEnv => ({
      LD_PRELOAD: FAKETIME,
      FAKETIME_TIMESTAMP_FILE: fileOf(member),
      // In seconds.
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
      FAKETIME_DISABLE_SHM: '1',
    }),
  }
}

/** The name that a receiver is called by. */
const NAME = 'receiver.example'

/**
 * A receiver that is called by a name, and the name server, which can fall silent. `env` has a process ask that one:
 * resolv.conf, which it would read, is of the machine.
 */
export const startNamedReceiver = async (folder: string) => {
  const names: Record<string, string[] | undefined> = { [NAME]: ['127.0.0.1'] }
  const server = await startNameServer(names)
  const certificate = makeCertificate([NAME])
  const receiver = await startWebhookReceiver({ certificate })
  const authority = join(folder, 'receiver.pem')
  await writeFile(authority, certificate.cert)
  const code = `
    import { Resolver } from 'node:dns/promises'
    const { resolve4 } = Resolver.prototype
    Resolver.prototype.resolve4 = function (name) {
      this.setServers(['${server.address}'])
      return resolve4.call(this, name)
    }`
  return {
    url: (path: string) => receiver.url(path, NAME),
    received: receiver.received,
    env: {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(code)}`,
      NODE_EXTRA_CA_CERTS: authority,
      OUTBOUND_PORTS: String(receiver.port),
    },
    setSilent: (isSilent: boolean): void => {
      names[NAME] = isSilent ? undefined : ['127.0.0.1']
    },
    async stop() {
      await receiver.stop()
      await server.close()
    },
  }
}

/** Temporal on the same PostgreSQL, by a link. It cannot be killed by itself. */
export const startTemporalStore = async (
  { database }: OwnPostgres,
  dataDir: string,
): Promise<{ temporal: OwnTemporal; link: Link }> => {
  const link = await startLink(database.url)
  const { address, stop } = await startTemporalOnPostgres({
    postgresUrl: link.url(database.url),
    dataDir,
  })
  const connection = await Connection.connect({ address })
  const never = () => Promise.reject(new Error('it is not for being killed'))
  const server = { address, ui: '', pid: 0, stop: never, kill: never, restart: never }
  const temporal = {
    server,
    connection,
    lose: never,
    async stop() {
      link.set({ name: 'pass' })
      await connection.close()
      await stop()
      await link.stop()
    },
  }
  return { temporal, link }
}
