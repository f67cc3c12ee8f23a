import assert from 'node:assert/strict'

import fc from 'fast-check'
import type { Arbitrary } from 'fast-check'

import {
  gifOfFrames,
  makeTiff,
  pngOfTexts,
  webpOfFrames,
} from '../../packages/engines/test/image-bombs.ts'
import { contentCases } from '../../packages/inspector/test/archive/cases/contents.ts'
import { nameCases } from '../../packages/inspector/test/archive/cases/names.ts'
import { recordCases } from '../../packages/inspector/test/archive/cases/records.ts'
import { HOSTILE_PACKS } from '../../packages/inspector/test/hostile-packs.ts'
import { SNIPPETS } from '../../packages/inspector/test/interpret/snippets.ts'
import { makeHollowPng } from '../platform/http/bad-input-support.ts'
import { IMAGE_API, VIDEO_API, readResponse } from '../support/client.ts'
import type { HttpResponse, Client } from '../support/client.ts'
import { PATIENCE_MS } from '../support/patience.ts'
import { makePicture } from '../support/pictures.ts'
import { waitFor } from '../support/wait.ts'
import { makeZip } from '../support/zip.ts'
import { writeZip } from '../support/zip-writer.ts'
import { damage } from './damage.ts'

/** A file, and what it is sent to. */
export interface FileCase {
  kind: 'image' | 'video' | 'zip' | 'python'
  bytes: Buffer
  isInline: boolean
  route: string
}

/** Archives that are rejected for one reason each, and a right one. */
const ARCHIVES = [...contentCases, ...nameCases, ...recordCases]
  .map(({ zip }) => zip())
  .filter(({ length }) => length < 1_000_000)
const PACK = makeZip('NODE_CLASS_MAPPINGS = {}\n')

/** Sources in which every form of Python stands, and those of packs that mean harm. */
const SOURCES = [...SNIPPETS, ...HOSTILE_PACKS].map(({ files }) =>
  Buffer.from(files['__init__.py'] ?? ''),
)

const FILES = ['__init__.py', 'a.py', 'requirements.txt', 'pyproject.toml']
const packs: Arbitrary<Buffer> = fc
  .tuple(...FILES.map(() => damage(SOURCES)))
  .map((texts) =>
    writeZip(texts.map((data, at) => ({ name: `pack/${FILES[at]}`, data, method: 8 }))),
  )

/** Files of all kinds. `video` is a right one. */
export const makeFiles = async (video: Buffer): Promise<Arbitrary<FileCase>> => {
  const formats = ['png', 'jpeg', 'webp', 'avif', 'tiff', 'gif'] as const
  const pictures = await Promise.all(
    formats.map((format) => makePicture({ format, width: 40, height: 24 })),
  )
  const sides = [0, 1, 50_000, 2 ** 31, 0xffffffff]
  const images = [
    [pictures, pictures, sides.map((side) => makeHollowPng(side, side))].flat(),
    [pngOfTexts(2000), gifOfFrames(500), await webpOfFrames(50), await webpOfFrames(50, true)],
    [makeTiff({ pages: 3, endless: true }), PACK, Buffer.from('%PDF-1.7\n')],
    [Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///a"/></svg>')],
  ].flat()
  const of = (kind: FileCase['kind'], routes: string, bytes: Arbitrary<Buffer>) => {
    const route = fc.constantFrom(...routes.split(' '))
    return fc.record({ kind: fc.constant(kind), route, bytes, isInline: fc.boolean() })
  }
  const stills = of('image', 'image-upscaler image-relight skin-enhancer/creative', damage(images))
  const frames = of('video', 'img2video start-end2video', damage(images))
  const videos = of('video', 'extend', damage([video, video, ...pictures]))
  const zipped = of('zip', '', damage([PACK, ...ARCHIVES]))
  const python = of('python', '', packs)
  return fc.oneof(stills, stills, stills, frames, videos, zipped, zipped, python, python)
}

/** Milliseconds that a task or version may take: a reader may take 90 s of a pack, twice. */
const LONG_MS = 4 * PATIENCE_MS
const REJECTIONS = new Set([400, 413, 429])

/** Has a file rendered, and returns in a word what came of it. Throws when that is not documented. */
export const render = async (client: Client, { kind, bytes, isInline, route }: FileCase) => {
  const image =
    isInline && route !== 'extend' ? bytes.toString('base64') : await upload(client, bytes)
  const bodies: Record<string, object> = {
    img2video: { images: [image] },
    'start-end2video': { images: [image, image] },
    extend: { model: 'videoq2-pro', video_creation_id: 'none', video_url: image },
  }
  const path = `${kind === 'image' ? IMAGE_API : VIDEO_API}/${route}`
  const made = await client.post(path, bodies[route] ?? { image })
  if (REJECTIONS.has(made.status)) return `${made.status} ${made.body.error}`
  assert.equal(made.status, 200, JSON.stringify(made.body))
  if (kind === 'video') {
    const { state, err_code: code } = await client.untilVideoEnded(
      String(made.body['task_id']),
      LONG_MS,
    )
    assert.ok(state === 'success' || code, 'a failed task says why')
    return `${state} ${code}`
  }
  const [family = ''] = route.split('/')
  const { status, error } = await client.untilEnded(family, made.body.data.task_id, LONG_MS)
  assert.ok(status === 'COMPLETED' || error?.code, 'a failed task says why')
  return `${status} ${error?.code ?? ''}`
}

const upload = async (client: Client, bytes: Buffer): Promise<string> => {
  const { body } = await client.post('/customers/storage', { file_name: 'input.bin' })
  await put(String(body['upload_url']), bytes)
  return String(body['download_url'])
}

const put = async (link: string, bytes: Buffer): Promise<HttpResponse> => {
  const response = await fetch(link, { method: 'PUT', body: Uint8Array.from(bytes) })
  return await readResponse(response, { method: 'PUT', path: new URL(link).pathname })
}

/** Makes a publisher, who has a file read as the archive of a node and returns in a word what came of it. */
export const makePublisher = async (client: Client) => {
  await client.post('/publishers', { id: 'fuzz' })
  const { body: created } = await client.post('/publishers/fuzz/tokens', { name: 'fuzz' })
  return async ({ bytes }: FileCase, node: string): Promise<string> => {
    const made = await client.post(`/publishers/fuzz/nodes/${node}/versions`, {
      node: {},
      node_version: { version: '1.0.0' },
      personal_access_token: created['token'],
    })
    assert.equal(made.status, 201, JSON.stringify(made.body))
    const sent = await put(String(made.body['signedUrl']), bytes)
    if (REJECTIONS.has(sent.status)) return `${sent.status} ${sent.body.error}`
    assert.equal(sent.status, 200, JSON.stringify(sent.body))
    const read = async (): Promise<string | undefined> => {
      const { status: found, body } = await client.get(`/nodes/${node}/versions/1.0.0`)
      assert.equal(found, 200, JSON.stringify(body))
      const { status, status_reason: reason, host_node_extract_status: extraction } = body
      assert.ok(String(status) !== 'NodeVersionStatusFlagged' || reason, 'a version says why')
      return String(status) === 'NodeVersionStatusPending' ? undefined : `${status} ${extraction}`
    }
    return await waitFor(`${node} is decided`, read, LONG_MS)
  }
}
