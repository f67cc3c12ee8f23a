import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { chown, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { readDatabaseAddress } from '../../src/platform/settings/database.ts'
import { listenForChanges, makeNotifyChange } from '../../src/platform/db/change-notification.ts'
import { makeDatabase, type Sql } from '../../src/platform/db/client.ts'
import { advisePostgres } from '../../src/platform/process/postgres-advice.ts'
import { startOwnPostgres, type OwnPostgres } from '../faults/servers.ts'
import { makeCertificate, type Certificate } from '../support/certificate.ts'
import { makeClient } from '../support/client.ts'
import { spawnEntry } from '../support/entry.ts'
import { useFolder } from '../support/folder.ts'
import { base64 } from '../support/pictures.ts'
import { startService, type Service } from '../support/service.ts'
import { useDatabase } from '../support/stack.ts'
import { PATIENT } from '../support/template.ts'
import { waitFor } from '../support/wait.ts'

const folder = useFolder()
const write = async (name: string, text: string): Promise<string> => {
  const path = join(folder, `${randomUUID()}-${name}`)
  await writeFile(path, text)
  return path
}

const byName = makeCertificate(['localhost'])
const byAddress = makeCertificate(['127.0.0.1'])
const client = makeCertificate(['kiln'])
const stranger = makeCertificate(['stranger'])
const files = {
  byName: await write('name.pem', byName.cert),
  byAddress: await write('address.pem', byAddress.cert),
  stranger: await write('stranger.pem', stranger.cert),
  strangerKey: await write('stranger.key', stranger.key),
  cert: await write('client.pem', client.cert),
  key: await write('client.key', client.key),
  text: await write('text.pem', 'certificate'),
}
const pair = `&sslcert=${files.cert}&sslkey=${files.key}`

describe('TLS parameters of a database address', () => {
  const ROWS: [name: string, query: string, sentence: RegExp, hosts?: string][] = [
    ['a mode that may be plain', 'sslmode=prefer', /sslmode must be .*, got prefer, which anybody/],
    ['an unknown mode', 'sslmode=on', /sslmode must be disable, require, .*, got on$/],
    ['the switch of the driver', 'ssl=true', /ssl must not be set: set sslmode/],
    [
      'parameters that nothing reads',
      'sslmode=require&sslcrl=a&channel_binding=require',
      /sslcrl, channel_binding must not be set/,
    ],
    ['no mode', `sslrootcert=${files.byName}`, /sslmode is absent, so that no certificate/],
    [
      'authorities of Node that are not checked by name',
      'sslmode=verify-ca&sslrootcert=system',
      /sslmode must be verify-full where sslrootcert is system/,
    ],
    ['half a pair', `sslmode=require&sslcert=${files.cert}`, /sslkey is absent: a client/],
    [
      'the key of another certificate',
      `sslmode=require&sslcert=${files.cert}&sslkey=${files.strangerKey}`,
      /sslkey is not the key of the certificate in sslcert/,
    ],
    [
      'a file that is not there',
      'sslmode=verify-ca&sslrootcert=/nowhere/ca.pem',
      /sslrootcert cannot be read: ENOENT/,
    ],
    [
      'text that is no PEM',
      `sslmode=verify-ca&sslrootcert=${files.text}`,
      /sslrootcert must be a certificate in PEM/,
    ],
    [
      'addresses to compare with',
      'sslmode=verify-full',
      /verify-full needs a host, and names where there are several/,
      '10.0.0.1:5432,10.0.0.2:5432',
    ],
  ]
  for (const [name, query, sentence, hosts = 'localhost'] of ROWS)
    test(`are rejected with ${name}`, () =>
      assert.throws(() => readDatabaseAddress(`postgres://kiln@${hosts}/kiln?${query}`), sentence))

  test('leave the others to the server', () => {
    const plain = 'postgres://kiln:a%3Fb@localhost/kiln'
    assert.deepEqual(readDatabaseAddress(plain), { url: plain, ssl: false })
    const { url, ssl } = readDatabaseAddress(`${plain}?sslmode=require&search_path=kiln`)
    assert.equal(url, `${plain}?search_path=kiln`)
    assert.equal(ssl && ssl.rejectUnauthorized, false)
  })
})

describe('a PostgreSQL that takes TLS alone', () => {
  const plain = useDatabase()
  let own: OwnPostgres
  let data: string

  const urlOf = (query: string, host = '127.0.0.1', database = 'kiln'): string => {
    const url = new URL(own.server.url)
    return Object.assign(url, { hostname: host, pathname: database, search: query }).href
  }

  /** Writes a file of the server's, which reads no key that others may read. */
  const give = async (name: string, text: string): Promise<void> => {
    const path = join(data, name)
    await writeFile(path, text, { mode: 0o600 })
    const { uid, gid } = await stat(data)
    await chown(path, uid, gid)
  }

  const connect = async <T>(url: string, act: (sql: Sql) => Promise<T>): Promise<T> => {
    const sql = makeDatabase({ url, ...PATIENT })
    return await act(sql).finally(() => sql.end({ timeout: 1 }))
  }

  /** Returns the advice about an address; nothing where it works. */
  const ask = async (url: string): Promise<string | undefined> =>
    await connect(url, (sql) => sql`select`).then(
      () => undefined,
      (error: unknown) => advisePostgres(error, 'DATABASE_URL') ?? String(error),
    )

  const present = async (shown: Certificate, authority: string): Promise<void> => {
    await give('server.crt', shown.cert)
    await give('server.key', shown.key)
    await own.database.sql`select pg_reload_conf()`
    const url = urlOf(`sslmode=verify-ca&sslrootcert=${authority}`)
    await waitFor('the server shows it', async () => (await ask(url)) === undefined)
  }

  before(async () => {
    own = await startOwnPostgres()
    const { sql } = own.database
    const [found] = await sql<{ data: string }[]>`
      select current_setting('data_directory') as data
    `
    data = found?.data ?? ''
    await give('client.crt', client.cert)
    await sql`alter system set ssl = on`
    await sql`alter system set ssl_ca_file = 'client.crt'`
    await sql`create database certified`
    const rules = [
      'hostssl certified all all scram-sha-256 clientcert=verify-ca',
      'hostssl all all all scram-sha-256',
    ]
    await give('pg_hba.conf', `${rules.join('\n')}\n`)
    await present(byName, files.byName)
  })
  after(() => own?.database.drop())

  test('is reached with what libpq would accept, and nothing else', async () => {
    const known = `&sslrootcert=${files.byName}`
    const other = `&sslrootcert=${files.stranger}`
    const ROWS: [query: string, host: string, sentence: RegExp | undefined][] = [
      ['sslmode=require', '127.0.0.1', undefined],
      [`sslmode=require${known}`, '127.0.0.1', undefined],
      [`sslmode=require${other}`, '127.0.0.1', /not signed by the authority in sslrootcert/],
      [`sslmode=verify-ca${known}`, '127.0.0.1', undefined],
      [`sslmode=verify-ca${other}`, '127.0.0.1', /or name the file .* in NODE_EXTRA_CA_CERTS/],
      ['sslmode=verify-ca', '127.0.0.1', /not signed by the authority/],
      ['sslrootcert=system', 'localhost', /not signed by the authority/],
      [`sslmode=verify-full${known}`, 'localhost', undefined],
      // The driver compares an address with `localhost`.
      [`sslmode=verify-full${known}`, '127.0.0.1', /have DATABASE_URL name a host that/],
      ['', '127.0.0.1', /no encryption: set sslmode=verify-full in DATABASE_URL/],
      ['sslmode=disable', '127.0.0.1', /no encryption: set sslmode=verify-full/],
    ]
    for (const [query, host, sentence] of ROWS) {
      const said = await ask(urlOf(query, host))
      if (sentence) assert.match(said ?? '', sentence, `${query} ${host}`)
      else assert.equal(said, undefined, `${query} ${host}`)
    }
  })

  test('is compared with its address, where it is reached by that', async () => {
    await present(byAddress, files.byAddress)
    const query = `sslmode=verify-full&sslrootcert=${files.byAddress}`
    assert.equal(await ask(urlOf(query)), undefined)
    assert.match((await ask(urlOf(query, 'localhost'))) ?? '', /name a host that the certificate/)
    await present(byName, files.byName)
  })

  test('is shown a certificate where it asks for one', async () => {
    const askCertified = (query: string) =>
      ask(
        urlOf(`sslmode=verify-full&sslrootcert=${files.byName}${query}`, 'localhost', 'certified'),
      )
    assert.equal(await askCertified(pair), undefined)
    assert.match((await askCertified('')) ?? '', /valid client certificate: correct sslcert and/)
    const wrong = `&sslcert=${files.stranger}&sslkey=${files.strangerKey}`
    assert.match((await askCertified(wrong)) ?? '', /rejects the certificate in sslcert/)
  })

  test('has to speak TLS, and a certificate that has not ended', async () => {
    assert.match((await ask(`${plain.url}?sslmode=require`)) ?? '', /speaks no TLS there: set ssl/)
    const ended = makeCertificate(['localhost'], -1)
    const path = await write('ended.pem', ended.cert)
    await give('server.crt', ended.cert)
    await give('server.key', ended.key)
    await own.database.sql`select pg_reload_conf()`
    const url = urlOf(`sslmode=verify-full&sslrootcert=${path}`, 'localhost')
    await waitFor('the end is said', async () => /expired: have that/.test((await ask(url)) ?? ''))
    await present(byName, files.byName)
  })

  test('may replace its certificate without a restart of ours', async () => {
    const authority = await write('authority.pem', byName.cert)
    const url = urlOf(`sslmode=verify-ca&sslrootcert=${authority}`)
    const cut = (sql: Sql) =>
      sql`select pg_terminate_backend(pg_backend_pid())`.catch(() => undefined)
    await connect(url, async (sql) => {
      await sql`select`
      await writeFile(authority, '')
      await cut(sql)
      await waitFor('what was read before is used', () => sql`select`.then(() => true))
      await present(byAddress, files.byAddress)
      await writeFile(authority, byAddress.cert)
      await cut(sql)
      await waitFor('what is there now is used', () => sql`select`.then(() => true))
    })
    await present(byName, files.byName)
  })

  test('notifies', async () => {
    const url = urlOf(`sslmode=verify-full&sslrootcert=${files.byName}${pair}`, 'localhost')
    const id = randomUUID()
    const received: string[] = []
    let isListening = false
    const stop = listenForChanges({
      url,
      name: 'changes',
      onChange: (changed) => received.push(changed),
      onConnect: () => (isListening = true),
    })
    await waitFor('it listens', () => isListening)
    await connect(url, async (sql) => {
      makeNotifyChange(sql)(id)
      await waitFor('it arrives', () => received.includes(id))
    })
    await stop()
  })

  describe('below a service', () => {
    let service: Service
    const PATHS = {
      api: ['src/api.ts', { PORT: '0' }],
      core: ['src/worker.ts', { WORKER_ROLE: 'core' }],
      media: ['src/worker.ts', { WORKER_ROLE: 'media' }],
      migrate: ['src/migrate.ts', {}],
      operate: ['src/operate.ts', {}, 'stuck'],
      doctor: ['src/operate.ts', {}, 'doctor'],
    } as const
    const spawn = (name: keyof typeof PATHS, env: NodeJS.ProcessEnv = {}) => {
      const [path, settings, ...args] = PATHS[name]
      return spawnEntry({ path, args, env: { ...service.settings, ...env, ...settings } })
    }

    before(async () => {
      const url = urlOf(`sslmode=verify-full&sslrootcert=${files.byName}${pair}`, 'localhost')
      const sql = makeDatabase({ url, ...PATIENT, pool: 4 })
      const drop = (): Promise<void> => sql.end({ timeout: 1 })
      service = await startService({ database: { url, sql, drop } })
    })
    after(() => service?.stop())

    test('serves all its processes', async () => {
      const caller = makeClient(
        () => service.baseUrl,
        () => service.token('caller'),
      )
      const id = await caller.createImage({ image: await base64() })
      assert.equal((await caller.untilEnded('image-upscaler', id)).status, 'COMPLETED')
      for (const name of ['migrate', 'operate'] as const) {
        const entry = spawn(name)
        assert.equal(await entry.end(), '0', entry.log.join('\n'))
      }
      const doctor = spawn('doctor')
      await doctor.end()
      for (const check of ['postgres', 'database', 'schema'])
        assert.match(doctor.log.join('\n'), new RegExp(`^ok +${check} `, 'm'))
      const names = await service.database.sql<{ name: string }[]>`
        select distinct application_name as name from pg_stat_ssl
        join pg_stat_activity using (pid) where ssl and client_serial is not null
      `
      const expected = ['kiln api', 'kiln api changes', 'kiln worker core', 'kiln worker media']
      for (const one of expected)
        assert.ok(
          names.some(({ name }) => name === one),
          one,
        )
    })

    /** Wrong settings, and what every process says of them. */
    const WRONG: [what: string, query: string, says: RegExp][] = [
      ['no TLS', '', /no encryption: set sslmode=verify-full in DATABASE_URL/],
      [
        'another authority',
        `sslmode=verify-full&sslrootcert=${files.stranger}`,
        /not signed by the authority in sslrootcert of DATABASE_URL/,
      ],
      [
        'a file that is not there',
        'sslmode=verify-full&sslrootcert=/nowhere/ca.pem',
        /DATABASE_URL: sslrootcert cannot be read: ENOENT/,
      ],
    ]
    for (const [what, query, says] of WRONG)
      test(`names ${what} in every process`, async () => {
        const env = { DATABASE_URL: urlOf(query, 'localhost') }
        for (const name of Object.keys(PATHS) as (keyof typeof PATHS)[]) {
          const entry = spawn(name, env)
          const line = await waitFor(
            () => `${name} says it: ${entry.log.join('\n')}`,
            () => entry.log.find((it) => says.test(it)),
          ).finally(entry.kill)
          if (name === 'operate' || name === 'doctor') continue
          assert.ok((JSON.parse(line) as { level: number }).level >= 40, name)
        }
      })
  })
})
