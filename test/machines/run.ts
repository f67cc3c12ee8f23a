/**
 * Runs `npm run test:system -- machines`; arguments choose parts. `pgbouncer`: the demo and the tests of the interface by
 * way of a pooler. `failover`: PostgreSQL's primary dies and its standby takes over. `hosts`: three hosts with a bucket
 * in common are killed and cut off. `restore`: a backup taken under load is restored into empty servers.
 */
import { secondsSince } from '../../src/local/console.ts'
import { startTestServers } from '../support/servers.ts'
import { testFailover } from './failover.ts'
import { testHosts } from './hosts.ts'
import { testPgbouncer } from './pgbouncer.ts'
import { testRestore } from './restore.ts'

export type Say = (line: string) => void

const PARTS: Record<string, (say: Say) => Promise<boolean>> = {
  pgbouncer: testPgbouncer,
  failover: testFailover,
  hosts: testHosts,
  restore: testRestore,
}

const say: Say = (line) => void process.stdout.write(`${line}\n`)

const chosen = process.argv.slice(2)
const servers = await startTestServers(say)
try {
  Object.assign(process.env, servers.env)
  for (const [name, run] of Object.entries(PARTS)) {
    if (chosen.length > 0 && !chosen.includes(name)) continue
    const start = Date.now()
    say(`\n== ${name}`)
    const isWell = await run(say)
    say(`${name}: ${isWell ? 'ok' : 'FAILED'}, ${secondsSince(start)}`)
    if (!isWell) process.exitCode = 1
  }
} finally {
  await servers.stop()
}
