import { createHash, randomBytes } from 'node:crypto'
import { mkdir, writeFile, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { Uint8ArrayReader, Uint8ArrayWriter, ZipWriter, configure } from '@zip.js/zip.js'

import type { Call } from './demo-client.ts'

export interface PublishOptions {
  call: Call
  pack: string
  outDir: string
  signal: AbortSignal
  /** Called with each step as it begins, and with the version's status while it is checked. */
  onStep(step: string): void
  /** Called once there is a workflow to look at. */
  onStart(versionId: string): void
}

export interface Published {
  /** The archive as it was sent, and as it was installed. */
  files: string[]
  /** Facts that a person would like to know of it, a line each. */
  notes: string[]
}

const POLL_MS = 300
const LIMIT_MS = 300_000
const NODE_NAME = 'Light tools'

/**
 * Publishes the sample pack as a publisher does: a publisher, a token, a node, a version, its archive. Waits until the
 * version is active, then searches, installs and downloads it as anybody can. Throws unless the bytes are the same.
 */
export const publishSamplePack = async (options: PublishOptions): Promise<Published> => {
  const { call, pack, outDir, onStep } = options
  const suffix = randomBytes(4).toString('hex')
  const nodeId = `light-tools-${suffix}`
  onStep('publisher')
  const publisherId = await getPublisher(call, suffix)
  onStep('token')
  const { token } = await call<{ token: string }>('POST', `/publishers/${publisherId}/tokens`, {
    name: 'demonstration',
  })
  onStep('node')
  await call('POST', `/publishers/${publisherId}/nodes`, { id: nodeId, ...NODE })
  const archive = await zipFolder(pack)
  const sent = await save(outDir, 'publish.before.zip', archive)
  onStep('publishing')
  const path = `/publishers/${publisherId}/nodes/${nodeId}/versions`
  const made = await call<Publication>('POST', path, {
    personal_access_token: token,
    node: { id: nodeId },
    node_version: { version: '1.0.0', changelog: 'The first one.', dependencies: [] },
  })
  onStep('uploading')
  await upload(made.signedUrl, archive)
  options.onStart(made.node_version.id)
  await untilActive(options, nodeId)
  onStep('searching')
  await find(call, nodeId)
  onStep('installing')
  const { downloadUrl } = await call<Version>('GET', `/nodes/${nodeId}/install`)
  const received = await download(downloadUrl)
  const installed = await save(outDir, 'publish.after.zip', received)
  const [before, after] = [hashOf(archive), hashOf(received)]
  if (before !== after) throw new Error(`sent ${before}, installed ${after}`)
  const names = await listHostNodes(call, nodeId)
  return {
    files: [sent, installed],
    notes: [`${downloadUrl}, SHA-256 ${after} as sent`, `host nodes: ${names.join(', ')}`],
  }
}

interface Version {
  id: string
  status: string
  status_reason: string
  downloadUrl: string
}

interface Publication {
  node_version: Version
  signedUrl: string
}

const NODE = {
  name: NODE_NAME,
  description: 'Nodes that measure and shape the light of an image.',
  repository: 'https://git.example.com/demo/light-tools',
  license: '{"file": "LICENSE"}',
  tags: ['light', 'image'],
}

/** One user may create only so many: a publisher of an earlier demonstration serves again. */
const getPublisher = async (call: Call, suffix: string): Promise<string> => {
  const mine = await call<{ id: string }[]>('GET', '/users/publishers/')
  const earlier = mine.find(({ id }) => id.startsWith('demo-'))
  if (earlier) return earlier.id
  const id = `demo-${suffix}`
  await call('POST', '/publishers', { id, name: 'Demonstration' })
  return id
}

const upload = async (signedUrl: string, archive: Uint8Array): Promise<void> => {
  const headers = { 'content-type': 'application/zip' }
  const response = await fetch(signedUrl, { method: 'PUT', headers, body: Buffer.from(archive) })
  if (!response.ok)
    throw new Error(`the upload failed with ${response.status}: ${await response.text()}`)
}

const untilActive = async (
  { call, signal, onStep }: PublishOptions,
  nodeId: string,
): Promise<void> => {
  const end = Date.now() + LIMIT_MS
  for (;;) {
    const version = await call<Version>('GET', `/nodes/${nodeId}/versions/1.0.0`)
    const status = version.status.replace('NodeVersionStatus', '')
    onStep(status)
    if (status === 'Active') return
    if (status !== 'Pending') throw new Error(`the version is ${status}: ${version.status_reason}`)
    if (Date.now() > end) throw new Error(`not active after ${LIMIT_MS / 1000} s`)
    await sleep(POLL_MS, undefined, { signal })
  }
}

const find = async (call: Call, nodeId: string): Promise<void> => {
  const path = `/nodes/search?search=${encodeURIComponent(nodeId)}`
  const { nodes } = await call<{ nodes: { id: string }[] }>('GET', path)
  if (nodes[0]?.id !== nodeId) throw new Error(`the search does not find ${nodeId} first`)
}

/** Lists the host nodes that the archive's Python was found to provide. */
const listHostNodes = async (call: Call, nodeId: string): Promise<string[]> => {
  const path = `/nodes/${nodeId}/versions/1.0.0/host-nodes`
  const { host_nodes } = await call<{ host_nodes: { host_node_name: string }[] }>('GET', path)
  if (host_nodes.length === 0) throw new Error('no host node was found in the archive')
  return host_nodes.map(({ host_node_name: name }) => name)
}

const download = async (link: string): Promise<Uint8Array> => {
  const response = await fetch(link)
  if (!response.ok) throw new Error(`the archive's link responded with ${response.status}: ${link}`)
  return new Uint8Array(await response.arrayBuffer())
}

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

const save = async (folder: string, name: string, bytes: Uint8Array): Promise<string> => {
  await mkdir(folder, { recursive: true })
  const path = join(folder, name)
  await writeFile(path, bytes)
  return path
}

/** Puts a folder into a zip as publishing tools do: its files at the top, in the order of their names. */
export const zipFolder = async (folder: string): Promise<Uint8Array> => {
  configure({ useWebWorkers: false })
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const paths = entries
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
  const zip = new ZipWriter(new Uint8ArrayWriter(), { lastModDate: EPOCH })
  for (const path of paths.toSorted())
    await zip.add(
      path.slice(folder.length + 1).replaceAll('\\', '/'),
      new Uint8ArrayReader(await readFile(path)),
    )
  return await zip.close()
}

/** The first day that a zip can name: the same files give the same bytes. */
const EPOCH = new Date(1980, 0, 1)
