import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { setMaxListeners } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, describe, test } from 'node:test'

import { makeResolver, type Resolve } from '../../../src/platform/outbound/resolver.ts'
import { useFolder } from '../../support/folder.ts'
import { startNameServer } from '../../support/name-server.ts'
import { use } from '../../support/use.ts'

const SILENT = Array.from({ length: 32 }, (_, index) => `silent-${index}.example`)
const NAMES: Record<string, string[] | undefined> = {
  'both.example': ['2001::7', '192.0.2.1', '192.0.2.2'],
  'six.example': ['2001::8'],
  'none.example': [],
  ...Object.fromEntries(SILENT.map((name) => [name, undefined])),
}

describe('the look-up of a name', () => {
  const folder = useFolder()
  const hostsFile = join(folder, 'hosts')
  writeFileSync(
    hostsFile,
    '# both.example\n127.0.0.2\tHooks.Local.example hooks # both.example\nfe80::1%lo0 hooks\n::1 hooks\n',
  )
  const server = use(
    () => startNameServer(NAMES),
    ({ close }) => close(),
  )
  let resolve: Resolve
  before(() => void (resolve = makeResolver({ servers: [server.address], hostsFile })))
  const forever = new AbortController().signal

  test('goes by the hosts file first', async () => {
    assert.deepEqual(await resolve('hooks.local.example', forever), ['127.0.0.2'])
    assert.deepEqual(await resolve('hooks', forever), ['127.0.0.2', '::1'])
    assert.deepEqual(server.asked, [])
  })

  test('finds this machine without a hosts file', async () => {
    const bare = makeResolver({ servers: [server.address], hostsFile: join(folder, 'none') })
    assert.deepEqual(await bare('localhost', forever), ['127.0.0.1', '::1'])
    assert.deepEqual(server.asked, [])
  })

  test('asks the name servers for both families', async () => {
    assert.deepEqual(await resolve('both.example', forever), ['192.0.2.1', '192.0.2.2', '2001::7'])
    assert.deepEqual(await resolve('six.example', forever), ['2001::8'])
  })

  test('fails for a name without addresses, and for one that does not exist', async () => {
    await assert.rejects(resolve('none.example', forever), { code: 'ENODATA' })
    await assert.rejects(resolve('no.example', forever), { code: 'ENOTFOUND' })
  })

  test('ends with its signal, and holds up no other look-up until then', async () => {
    const stop = new AbortController()
    setMaxListeners(0, stop.signal)
    const silent = SILENT.map((name) => resolve(name, stop.signal))
    // The system's own look-up has four threads: with 32 under way there it would come last.
    assert.equal((await lookup('127.0.0.1')).address, '127.0.0.1')
    assert.equal((await lookup('localhost', 4)).address, '127.0.0.1')
    assert.deepEqual(await resolve('six.example', forever), ['2001::8'])
    stop.abort()
    const ends = await Promise.allSettled(silent)
    assert.deepEqual(new Set(ends.map(({ status }) => status)), new Set(['rejected']))
    await assert.rejects(resolve('six.example', stop.signal), { name: 'AbortError' })
  })

  test('ends when its time is over', async () => {
    const quick = makeResolver({ servers: [server.address], timeoutMs: 50 })
    await assert.rejects(quick('silent-0.example', forever), { code: 'ECANCELLED' })
  })
})
