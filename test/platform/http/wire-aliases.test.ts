import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { HOST_CLIENTS } from '../../../src/local/start.ts'
import { base64, makePicture } from '../../support/pictures.ts'
import { makeCli } from '../../support/registry-cli.ts'
import { useService } from '../../support/service.ts'
import { waitFor } from '../../support/wait.ts'
import { HOST_NAMES, OWN_NAMES } from '../../support/wire-names.ts'
import { makeZip } from '../../support/zip.ts'
import { linesOf, postBatch, untilBulkEnded } from '../../tasks/http/bulk-support.ts'
import { runFieldClient, runVideoFieldClient } from './field-client.ts'

type Json = Record<string, unknown>

const env = { ...HOST_CLIENTS, ADMIN_SUBJECTS: 'root', OVERRIDE_HEARTBEAT_SECONDS: '600' }
const service = useService({ env })

interface Asked {
  method?: string
  body?: object
  user?: string
  headers?: Record<string, string>
}

const ask = async (path: string, { method, body, user, headers }: Asked = {}) => {
  const response = await fetch(service.baseUrl + path, {
    method: method ?? (body ? 'POST' : 'GET'),
    headers: {
      ...(body && { 'content-type': 'application/json' }),
      ...(user !== undefined && { authorization: `Bearer ${await service.token(user)}` }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const json = (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : {}) as Json
  return { status: response.status, headers: response.headers, body: json, text }
}

/** Members that have a name with `host` in it, at any depth. */
const listHostMembers = (value: unknown): string[] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([name, member]) => [
        ...(/host/.test(name) ? [name] : []),
        ...listHostMembers(member),
      ])
    : []

describe("the host's image nodes", () => {
  const ADVANCED = {
    whites: 50,
    blacks: 50,
    brightness: 50,
    contrast: 50,
    saturation: 50,
    engine: 'illusio',
    transfer_light_a: 'automatic',
    transfer_light_b: 'soft_in',
    fixed_generation: true,
  }
  const RELIGHT = {
    prompt: 'warm light from the left',
    light_transfer_strength: 100,
    interpolate_from_original: false,
    change_background: true,
    style: 'standard',
    preserve_details: true,
    advanced_settings: ADVANCED,
  }
  const UPSCALE = {
    scale_factor: '2x',
    optimized_for: 'standard',
    creativity: 0,
    hdr: 0,
    resemblance: 0,
    fractality: 0,
    engine: 'magnific_sparkle',
  }
  const PRECISE = {
    sharpen: 7,
    smart_grain: 7,
    ultra_detail: 30,
    flavor: 'sublime',
    scale_factor: 2,
  }
  const SKIN = { sharpen: 0, smart_grain: 2 }
  for (const [path, family, settings] of [
    ['image-upscaler', 'image-upscaler', UPSCALE],
    ['image-upscaler-precision-v2', 'image-upscaler-precision-v2', PRECISE],
    ['image-relight', 'image-relight', RELIGHT],
    ['skin-enhancer/creative', 'skin-enhancer', SKIN],
    ['skin-enhancer/faithful', 'skin-enhancer', { ...SKIN, skin_detail: 80 }],
    ['skin-enhancer/flexible', 'skin-enhancer', { ...SKIN, optimized_for: 'enhance_skin' }],
  ] as const)
    test(`make, poll and download by ${path}, and read that it costs nothing`, async () => {
      const made = await runFieldClient({
        baseUrl: service.baseUrl,
        token: await service.token('artist'),
        path,
        family,
        settings,
        image: await makePicture({ width: 160, height: 160, format: 'png' }),
        format: 'png',
        names: HOST_NAMES,
      })
      assert.equal(made.type, 'image/png')
    })
})

describe("the host's video nodes", () => {
  const SHORT = { model: 'viduq2-turbo', duration: 1, seed: 1, resolution: '540p' }

  test('make a video from a prompt and from a picture', async () => {
    const text = { ...SHORT, prompt: 'a lake', aspect_ratio: '16:9', movement_amplitude: 'auto' }
    const image = { ...SHORT, prompt: '', images: [await base64()] }
    for (const [path, body] of [
      ['text2video', text],
      ['img2video', image],
    ] as const) {
      const { baseUrl } = service
      const files = await runVideoFieldClient({ baseUrl, path, body, names: HOST_NAMES })
      assert.deepEqual([...files.keys()], ['video.mp4', 'cover.jpg'])
    }
  })

  test('make a video longer by its address alone, and see the model by the name that they sent', async () => {
    const source = { ...SHORT, duration: 4, prompt: 'a lake' }
    const made = await ask('/proxy/vidu/text2video', { body: source, user: 'artist' })
    assert.equal(made.body['model'], 'viduq2-turbo')
    const location = `/proxy/vidu/tasks/${String(made.body['task_id'])}/creations`
    assert.equal(made.headers.get('location'), service.baseUrl + location)
    const film = await waitFor('the video is made', async () => {
      const { body } = await ask(location, { user: 'artist' })
      return body['state'] === 'success' && body
    })
    const [{ url }] = film['creations'] as [{ url: string }]
    const files = await runVideoFieldClient({
      baseUrl: service.baseUrl,
      path: 'extend',
      body: { ...SHORT, prompt: '', video_url: url },
      token: await service.token('artist'),
      names: HOST_NAMES,
    })
    assert.deepEqual([...files.keys()], ['video.mp4', 'cover.jpg'])
  })
})

describe("the host's command-line tool, manager and site", () => {
  const CLASSES = 'class Blur:\n  RETURN_TYPES = ("IMAGE",)\n  FUNCTION = "run"\n'
  const PACK = makeZip(`${CLASSES}NODE_CLASS_MAPPINGS = {"AliasBlur": Blur}\n`, '__init__.py')
  const VERSION = '/nodes/alias-pack/versions/1.0.0'
  const cli = () => makeCli(service.baseUrl, HOST_NAMES)

  const prepare = async () => {
    await ask('/publishers', { body: { id: 'acme' }, user: 'olga' })
    const { body } = await ask('/publishers/acme/tokens', { body: { name: 'cli' }, user: 'olga' })
    return String(body['token'])
  }

  test('publish, upload, list and install', async () => {
    const token = await prepare()
    const publishing = { publisherId: 'acme', nodeId: 'alias-pack', token, changelog: 'First.' }
    const { signedUrl } = await cli().publish(publishing)
    await cli().upload(signedUrl, PACK)
    await waitFor('the version is active', async () => {
      const { body } = await ask(VERSION)
      return (
        body['comfy_node_extract_status'] === 'success' &&
        body['status'] === 'NodeVersionStatusActive'
      )
    })
    const { nodes } = await cli().walk('&comfyui_version=v0.3.40&form_factor=git-linux')
    assert.deepEqual(
      nodes.map(({ id }) => id),
      ['alias-pack'],
    )
    assert.equal((await cli().install('alias-pack')).version.version, '1.0.0')
  })

  test('read the node classes of a version by their own names alone', async () => {
    const { body } = await ask(`${VERSION}/comfy-nodes?page=1&limit=10`)
    assert.deepEqual(listHostMembers(body), [])
    const [listed] = body['comfy_nodes'] as Json[]
    const one = await ask(`${VERSION}/comfy-nodes/AliasBlur`)
    for (const read of [listed, one.body])
      assert.deepEqual(
        [read?.['comfy_node_name'], read?.['policy']],
        ['AliasBlur', 'ComfyNodePolicyActive'],
      )
    const pack = await ask('/comfy-nodes/AliasBlur/node')
    assert.deepEqual([pack.body['id'], listHostMembers(pack.body)], ['alias-pack', []])
    const banned = '?policy=ComfyNodePolicyBanned&policy=ComfyNodePolicyLocalOnly'
    assert.deepEqual((await ask(`${VERSION}/comfy-nodes${banned}`)).body['comfy_nodes'], [])
    const found = await ask('/nodes/search?comfy_node_search=aliasblur')
    assert.equal(found.body['total'], 1)
    assert.equal((await ask('/nodes/search?comfy_node_search=nothing')).body['total'], 0)
  })

  test('edit a node by what they have read, where both names stand', async () => {
    const { body: node } = await ask('/nodes/alias-pack', { user: 'root' })
    assert.deepEqual(node['preempted_comfy_node_names'], node['preempted_host_node_names'])
    const change = { preempted_comfy_node_names: ['Soften'], supported_comfyui_version: '>=0.3' }
    const sent = { method: 'PUT', user: 'root', body: { ...node, ...change } }
    const changed = await ask('/publishers/acme/nodes/alias-pack', sent)
    assert.equal(changed.status, 200, changed.text)
    assert.match(changed.headers.get('ignored-fields') ?? '', /\/preempted_host_node_names/)
    const { body: read } = await ask('/nodes/alias-pack')
    for (const names of ['preempted_comfy_node_names', 'preempted_host_node_names'])
      assert.deepEqual(read[names], ['Soften'], names)
    for (const name of ['supported_comfyui_version', 'supported_host_version'])
      assert.equal(read[name], '>=0.3', name)
    const own = { method: 'PUT', user: 'olga', body: { supported_host_version: '>=0.4' } }
    const owned = await ask('/publishers/acme/nodes/alias-pack', own)
    assert.equal(owned.body['supported_comfyui_version'], '>=0.4')
    assert.equal(owned.headers.get('ignored-fields'), null)
  })

  test('ban a node class by their own word', async () => {
    const policies = { comfy: { AliasBlur: 'ComfyNodePolicyBanned' } }
    const body = { host_node_policies: policies.comfy, status_reason: 'It is malware.' }
    const banned = await ask(`/admin${VERSION}`, { method: 'PUT', user: 'root', body })
    assert.equal(banned.status, 200, banned.text)
    const { body: read } = await ask(`${VERSION}/comfy-nodes/AliasBlur`)
    assert.equal(read['policy'], 'ComfyNodePolicyBanned')
    const { body: neutral } = await ask(`${VERSION}/host-nodes/AliasBlur`)
    assert.equal(neutral['policy'], 'HostNodePolicyBanned')
  })
})

describe('a batch', () => {
  test('reads each request as if it had come alone, by the path that it names', async () => {
    const client = service.client()
    const image = await base64({ width: 32, height: 24 })
    const [upscaler, film] = ['image-upscaler', { prompt: 'a lake', duration: 1, seed: 1 }]
    const requests = [
      { path: `${HOST_NAMES.imageApi}/${upscaler}`, body: { image, engine: 'magnific_sparkle' } },
      { path: `${HOST_NAMES.videoApi}/text2video`, body: { ...film, model: 'viduq2-turbo' } },
      { path: `${OWN_NAMES.imageApi}/${upscaler}`, body: { image, engine: 'vendor_sparkle' } },
      { path: `${HOST_NAMES.imageApi}/${upscaler}`, body: { image, engine: 'magnific_ilusio' } },
      { path: `${OWN_NAMES.imageApi}/${upscaler}`, body: { image, engine: 'magnific_sparkle' } },
      { path: `${HOST_NAMES.videoApi}/nothing`, body: {} },
    ]
    const path = await postBatch(client, { requests })
    await untilBulkEnded(client, path)
    const lines = await linesOf(client, path)
    assert.deepEqual(
      lines.map(({ state }) => state),
      ['done', 'done', 'done', 'rejected', 'rejected', 'rejected'],
    )
    assert.match(
      String(lines[3]?.error?.message),
      /^\/engine must be one of automatic, magnific_illusio.*got "magnific_ilusio"$/,
    )
    assert.match(String(lines[4]?.error?.message), /vendor_illusio.*got "magnific_sparkle"$/)
    assert.match(String(lines[5]?.error?.message), /^\/path must be .*\/proxy\/vidu\/nothing/)
    const { body } = await client.get(`/tasks/${lines[0]?.task_id}`)
    assert.match(JSON.stringify(body), /vendor_sparkle/)
  })
})

describe('a service with other names', () => {
  test('speaks those of the interface on its paths, and nothing else there', async () => {
    const body = { image: await base64(), engine: 'vendor_sparkle' }
    const path = '/proxy/imgvendor/v1/ai/image-upscaler'
    const made = await ask(path, { body, user: 'artist' })
    assert.deepEqual([made.status, made.headers.get('x-credits-used')], [200, '0'])
    assert.equal(made.headers.get('x-comfy-credits-used'), null)
    const other = await ask(path, { body: { ...body, engine: 'magnific_sparkle' }, user: 'artist' })
    assert.equal(other.status, 400)
    assert.match(String(other.body['message']), /vendor_illusio.*got "magnific_sparkle"/)
  })

  test('takes those of the interface in a body, whatever the path', async () => {
    const body = { image: await base64(), engine: 'vendor_sparkle' }
    const made = await ask(`${HOST_NAMES.imageApi}/image-upscaler`, { body, user: 'artist' })
    assert.equal(made.status, 200, made.text)
  })

  const WRONG: [path: string, asked: Asked, message: RegExp][] = [
    [
      '/proxy/freepik/v1/ai/image-upscaler',
      { user: 'artist', body: { image: 'https://x.org/a.png', engine: 'magnific_ilusio' } },
      /^\/engine must be one of automatic, magnific_illusio, magnific_sharpy, magnific_sparkle, got "magnific_ilusio"/,
    ],
    [
      '/proxy/vidu/text2video',
      { body: { model: 'viduq2-turbo', prompt: 'a', duration: 9 } },
      /^\/duration .*viduq2-turbo/,
    ],
    [
      '/nodes/search?comfy_node_search=a&host_node_search=b',
      {},
      /^\?comfy_node_search must be given once/,
    ],
    [
      '/publishers/acme/nodes',
      { user: 'olga', body: { id: 'wrong', supported_comfyui_version: 7 } },
      /^\/supported_comfyui_version must be a string/,
    ],
    ['/proxy/vidu/nothing', {}, /\/proxy\/vidu\/nothing/],
  ]
  for (const [path, asked, message] of WRONG)
    test(`names what is wrong with ${path} as its caller does`, async () => {
      const { status, body } = await ask(path, asked)
      assert.ok(status === 400 || status === 404, String(status))
      assert.match(String(body['message']), message)
      assert.doesNotMatch(JSON.stringify(body), /vidvendor|imgvendor|host_|videoq/)
      if (path.endsWith('text2video')) assert.ok(Array.isArray(body['details']))
    })

  test('gives a repetition under its key the first response, by whichever path it comes', async () => {
    const headers = { 'idempotency-key': 'one' }
    const image = await base64()
    const asked = (engine: string) => ({ user: 'keyed', headers, body: { image, engine } })
    const first = await ask('/proxy/freepik/v1/ai/image-upscaler', asked('magnific_sharpy'))
    const again = await ask('/proxy/imgvendor/v1/ai/image-upscaler', asked('vendor_sharpy'))
    assert.deepEqual([first.status, again.body], [200, first.body])
    assert.equal(again.headers.get('idempotent-replayed'), 'true')
  })

  test('has ETags that are good for what they were given with', async () => {
    const first = await ask('/nodes/alias-pack')
    const etag = first.headers.get('etag') ?? ''
    const same = await ask('/nodes/alias-pack', { headers: { 'if-none-match': etag } })
    assert.deepEqual([same.status, same.headers.get('etag')], [304, etag])
    const plain = etag.replace(/\.[0-9a-f]{8}"$/, '"')
    assert.notEqual(plain, etag)
    const old = await ask('/nodes/alias-pack', { headers: { 'if-none-match': plain } })
    assert.equal(old.status, 200)
    const body = { description: 'New.' }
    const put = { method: 'PUT', user: 'olga', body, headers: { 'if-match': etag } }
    assert.equal((await ask('/publishers/acme/nodes/alias-pack', put)).status, 200)
    assert.equal((await ask('/publishers/acme/nodes/alias-pack', put)).status, 412)
  })

  test('keeps free text and maps as they are', async () => {
    const translations = { de: { host_node_name: 'vendor_sharpy' } }
    const body = { description: 'host_node_name of videoq1', translations }
    const put = { method: 'PUT', user: 'olga', body }
    assert.equal((await ask('/publishers/acme/nodes/alias-pack', put)).status, 200)
    const { body: read } = await ask('/nodes/alias-pack')
    assert.deepEqual([read['description'], read['translations']], [body.description, translations])
    const pack = (await ask('/comfy-nodes/AliasBlur/node')).body
    assert.equal(pack['error'], 'host_node_not_found')
  })

  test('is not confused by a node that is called as a segment is', async () => {
    const { status, body } = await ask('/nodes/comfy-nodes')
    assert.deepEqual([status, body['error']], [404, 'node_not_found'])
    assert.match(String(body['message']), /comfy-nodes/)
  })

  test('ends at its start with a table that it cannot use, and says why', async () => {
    const env = { WIRE_ALIASES: '/nowhere.json' }
    for (const start of [() => service.startSecondApi(env), () => service.start('core', env)])
      await assert.rejects(start, /"WIRE_ALIASES=\/nowhere\.json is not usable: ENOENT/)
  })
})
