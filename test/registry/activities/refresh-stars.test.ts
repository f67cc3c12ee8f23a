import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'

import { makeRefreshStars } from '../../../activities/registry/refresh-stars.ts'
import type { StarsDependencies } from '../../../activities/registry/dependencies.ts'
import { makeOutbound } from '../../../src/platform/outbound/outbound.ts'
import { STARS_HOSTS, makeFetchStars } from '../../../src/registry/stars/stars.ts'
import { updateNodeByAdmin } from '../../../src/registry/db/node-transition.ts'
import { AUDIT, OPTIONS, useRegistryPlace } from '../db/registry-place.ts'

interface Asked {
  path: string
  token: string | undefined
  etag: string | undefined
}

describe('the stars of repositories', () => {
  const { database, place } = useRegistryPlace()
  const { sql } = database
  const outbound = makeOutbound({ allowLoopback: true, ports: [], deny: [] })
  const asked: Asked[] = []
  /** Status, and stars or headers of it, by the path of a request. */
  const responses = new Map<
    string,
    [status: number, stars: unknown, headers?: Record<string, string>]
  >()
  const server = createServer(({ url: path = '', headers }, response) => {
    const etag = headers['if-none-match']
    asked.push({ path, token: headers.authorization, etag })
    const [status, stars, more] = responses.get(path) ?? [404, 0]
    const tag = `"${String(stars)}"`
    const isKnown = status === 200 && etag === tag
    response.writeHead(isKnown ? 304 : status, { etag: tag, ...more })
    const count = { stargazers_count: stars, star_count: stars, stars_count: stars }
    response.end(isKnown ? undefined : JSON.stringify(count))
  })
  let refresh: () => Promise<number>
  before(async () => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    const hosts = STARS_HOSTS.map((host) => ({
      ...host,
      locate: (owner: string, name: string) =>
        `http://127.0.0.1:${port}${new URL(host.locate(owner, name)).pathname}`,
    }))
    const fetch = makeFetchStars({ outbound, githubToken: 'ghp_secret', hosts })
    refresh = makeRefreshStars({
      sql,
      log: { info: () => {} },
      random: () => 0.5,
      stars: { hosts: hosts.map(({ host }) => host), fetch },
    } as unknown as StarsDependencies)
  })
  after(() => {
    outbound.close()
    server.close()
  })

  const run = async (): Promise<Asked[]> => {
    asked.length = 0
    while ((await refresh()) > 0);
    return [...asked]
  }
  const makeDue = () => sql`update repository_stars set next_check_at = now() - interval '1 minute'`
  const starsOf = async (id: string): Promise<number> => {
    const [row] = await sql<
      { stars: number }[]
    >`select github_stars as stars from node where id = ${id}`
    return row?.stars ?? -1
  }
  const addNode = (id: string, repository: string) => place.addNode(id, { repository })

  test('come from each host, once for all nodes of a repository', async () => {
    await addNode('one', 'https://github.com/Acme/Tools.git')
    await addNode('same', 'http://github.com/acme/tools/')
    await addNode('lab', 'https://gitlab.com/acme/lab')
    await addNode('berg', 'https://codeberg.org/acme/berg')
    await addNode('elsewhere', 'https://git.example.com/acme/tools')
    responses.set('/repos/acme/tools', [200, 41])
    responses.set('/api/v4/projects/acme%2Flab', [200, 5])
    responses.set('/api/v1/repos/acme/berg', [200, 7])
    const first = await run()
    assert.equal(first.filter(({ path }) => path === '/repos/acme/tools').length, 1)
    const shown = await Promise.all(['one', 'same', 'lab', 'berg', 'elsewhere'].map(starsOf))
    assert.deepEqual(shown, [41, 41, 5, 7, 0])
    const tokens = first.map(({ path, token }) => [path.slice(0, 6), token])
    assert.deepEqual(
      tokens.filter(([, token]) => token),
      [['/repos', 'Bearer ghp_secret']],
    )
    assert.deepEqual(await run(), [], 'nothing is due')
  })

  test('that are the same change nothing, others the pack alone', async () => {
    const revs = async () => [...(await sql`select id, rev, updated_at from node order by id`)]
    const before = await revs()
    await makeDue()
    const second = await run()
    assert.equal(second.find(({ path }) => path === '/repos/acme/tools')?.etag, '"41"')
    assert.deepEqual(await revs(), before)
    responses.set('/repos/acme/tools', [200, 42])
    await makeDue()
    await run()
    const changed = (await revs()).filter((row, index) => row['rev'] !== before[index]?.['rev'])
    assert.deepEqual(
      changed.map(({ id }) => id),
      ['one', 'same'],
    )
    assert.equal(await starsOf('one'), 42)
  })

  test('wait as long as a host says that limits requests, and keep their number', async () => {
    await addNode('other', 'https://github.com/acme/other')
    const reset = String(Math.floor(Date.now() / 1000) + 1_800)
    const limited = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset }
    for (const name of ['tools', 'other']) responses.set(`/repos/acme/${name}`, [403, 0, limited])
    await makeDue()
    const paths = (await run()).map(({ path }) => path.split('/')[1])
    assert.equal(paths.filter((path) => path === 'repos').length, 1, 'the host is asked once')
    const waits = await sql`
      select key, extract(epoch from next_check_at - now()) as seconds from repository_stars
      where key like 'github.com/%'
    `
    for (const { seconds } of waits) assert.ok(seconds > 1_500 && seconds <= 1_800, String(seconds))
    assert.equal(await starsOf('one'), 42)
  })

  test('that a host does not know, or says wrongly, are tried again later', async () => {
    const broken: [number, unknown, number][] = [
      [404, 0, 604_800],
      [500, 0, 3_600],
      [200, 'many', 3_600],
      [200, -1, 3_600],
    ]
    for (const [status, stars, wait] of broken) {
      responses.set('/repos/acme/tools', [status, stars])
      await makeDue()
      await run()
      const [row] = await sql`
        select stars, error, extract(epoch from next_check_at - checked_at)::integer as wait
        from repository_stars where key = 'github.com/acme/tools'
      `
      assert.deepEqual([row?.['stars'], row?.['wait']], [42, wait])
      assert.match(String(row?.['error']), /^(status|no stargazers_count)/)
    }
  })

  test('give way to the number of an admin, until it is taken back', async () => {
    const set = (fields: { github_stars?: number; own_stars?: boolean }) =>
      sql.begin((sql) => updateNodeByAdmin(sql, { id: 'one', fields, audit: AUDIT }, OPTIONS))
    await set({ github_stars: 42 })
    responses.set('/repos/acme/tools', [200, 50])
    await makeDue()
    await run()
    assert.equal(await starsOf('one'), 50, 'a number that was sent back as it is shown is no other')
    await set({ github_stars: 9 })
    responses.set('/repos/acme/tools', [200, 51])
    await makeDue()
    await run()
    assert.deepEqual([await starsOf('one'), await starsOf('same')], [9, 51])
    await set({ own_stars: true })
    assert.equal(await starsOf('one'), 51)
  })
})
