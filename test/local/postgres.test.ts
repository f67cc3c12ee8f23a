import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import postgres from 'postgres'

import { startPostgres } from '../../src/local/postgres.ts'
import type { PostgresServer } from '../../src/local/postgres.ts'
import { findProcess, isRunning, listChildren } from '../../src/local/process-table.ts'
import { useFolder } from '../support/folder.ts'
import { PATIENCE_MS } from '../support/patience.ts'

describe('the packaged PostgreSQL', () => {
  let server: PostgresServer
  const folder = useFolder(() => server.remove())
  let lines: string[] = []
  const say = (line: string): void => {
    lines.push(line)
  }

  const query = async (statement: string, url = server.url): Promise<Record<string, unknown>[]> => {
    const sql = postgres(url, { max: 1, connect_timeout: PATIENCE_MS / 1000, onnotice: () => {} })
    try {
      return await sql.unsafe(statement)
    } finally {
      await sql.end({ timeout: 1 })
    }
  }

  before(async () => {
    await chmod(folder, 0o711)
    // What a start leaves that was killed while it made the cluster.
    await mkdir(join(folder, 'data/cluster.new'), { recursive: true })
    await writeFile(join(folder, 'data/cluster.new/PG_VERSION'), '18')
    server = await startPostgres({ dataDir: join(folder, 'data'), say })
  })

  test('runs with UTF-8, UTC and the settings asked for', async () => {
    const [row] = await query(
      `select current_setting('server_encoding') as encoding, current_setting('timezone') as zone,
        current_setting('max_connections') as connections, current_setting('fsync') as fsync,
        upper('é') as upper, current_database() as database`,
    )
    assert.deepEqual(row, {
      encoding: 'UTF8',
      zone: 'UTC',
      connections: '200',
      fsync: 'on',
      upper: 'É',
      database: 'kiln',
    })
  })

  test('asks for its password, which only the owner can read', async () => {
    const wrong = new URL(server.url)
    wrong.password = 'guess'
    await assert.rejects(query('select 1', wrong.href), /password authentication failed/)
    assert.equal((await stat(join(folder, 'data/password'))).mode & 0o777, 0o600)
  })

  test('keeps address and committed rows over SIGKILL of the whole server', async () => {
    const { url, pid } = server
    await query('create table kept as select 7 as n')
    const all = [findProcess(pid), ...listChildren(pid)].filter((one) => one !== undefined)
    assert.ok(all.length > 3)
    await server.kill()
    assert.deepEqual(all.filter(isRunning), [])
    await server.restart()
    assert.notEqual(server.pid, pid)
    assert.deepEqual([...(await query('select n from kept', url))], [{ n: 7 }])
  })

  test('starts although the pid of its lock file is taken by another process', async () => {
    await server.kill()
    const lock = await findLock()
    const other = spawn('sleep', ['60'])
    const text = (await readFile(lock, 'utf8')).replace(/^\d+/, String(other.pid))
    await writeFile(lock, text)
    await server.restart()
    assert.deepEqual([...(await query('select 1 as n'))], [{ n: 1 }])
    assert.ok(findProcess(other.pid ?? 0))
    other.kill('SIGKILL')
  })

  test('is ended by the next start on its folder when it was left running', async () => {
    const left = findProcess(server.pid)
    assert.ok(left)
    lines = []
    server = await startPostgres({ dataDir: join(folder, 'data'), say })
    assert.equal(isRunning(left), false)
    assert.deepEqual(lines, [
      `ending the PostgreSQL server (pid ${left.pid}) that an earlier start left`,
    ])
    assert.deepEqual([...(await query('select n from kept'))], [{ n: 7 }])
  })

  test('says what to do with the data of another major version', async () => {
    await server.stop()
    const version = join(await findLock(), '../PG_VERSION')
    await writeFile(version, '17\n')
    await assert.rejects(
      startPostgres({ dataDir: join(folder, 'data'), say }),
      /is of PostgreSQL 17 .* move its folder .* DATABASE_URL/,
    )
    await writeFile(version, '18\n')
  })

  const findLock = async (): Promise<string> => {
    const data = join(folder, 'data')
    const elsewhere = await readFile(join(data, 'cluster.location'), 'utf8').catch(() => '')
    return join(elsewhere.trim() || join(data, 'cluster'), 'postmaster.pid')
  }
})
