import { createHash } from 'node:crypto'

import type { Service } from '../../test/support/service.ts'
import { writeZip } from '../../test/support/zip-writer.ts'
import { makeRandom } from '../search/random.ts'

/** Who publishes, and with what. */
export interface Target {
  publisherId: string
  userId: string
  tokenId: string
  /** The personal access token itself. */
  token: string
}

/** A publisher of the bench's own, with a token. */
export const makeTarget = async (service: Service): Promise<Target> => {
  const headers = {
    authorization: `Bearer ${await service.token('bench')}`,
    'content-type': 'application/json',
  }
  const post = async (path: string, body: object): Promise<{ token?: string }> => {
    const init = { method: 'POST', headers, body: JSON.stringify(body) }
    const answer = await fetch(service.baseUrl + path, init)
    if (!answer.ok) throw new Error(`${path} is answered ${await answer.text()}`)
    return (await answer.json()) as { token?: string }
  }
  await post('/publishers', { id: 'bench' })
  const { token = '' } = await post('/publishers/bench/tokens', { name: 'bench' })
  const [row] = await service.database.sql<{ id: string }[]>`select id from personal_access_token`
  return { publisherId: 'bench', userId: 'bench', tokenId: row?.id ?? '', token }
}

export interface Archive {
  bytes: Buffer
  /** The same, in pieces as a socket gives them. */
  chunks: Buffer[]
  /** Lower-case hex. */
  sha256: string
}

/** Publishes a version with its archive and resolves when it is Active. */
export type PublishOnce = (
  archive: Archive,
  version: { nodeId: string; version: string },
) => Promise<void>

const CHUNK = 65_536

/** A pack of one node, which is found by reading it. */
const PACK = `
class Blur:
    CATEGORY = 'image'
    FUNCTION = 'run'
    RETURN_TYPES = ('IMAGE',)

    @classmethod
    def INPUT_TYPES(cls):
        return {'required': {'image': ('IMAGE',), 'radius': ('INT', {'default': 3})}}

    def run(self, image, radius):
        return (image,)


NODE_CLASS_MAPPINGS = {'Blur': Blur}
`

/** A zip of a small pack and of so many bytes of noise, which no reader can shorten; the same in every run. */
export const makeArchive = (size: number): Archive => {
  const random = makeRandom(size)
  const noise = Buffer.alloc(size)
  for (let at = 0; at + 4 <= size; at += 4)
    noise.writeUInt32LE(Math.floor(random.next() * 2 ** 32), at)
  const bytes = writeZip([
    { name: '__init__.py', data: PACK },
    { name: 'weights.safetensors', data: noise },
  ])
  const count = Math.ceil(bytes.length / CHUNK)
  return {
    bytes,
    chunks: Array.from({ length: count }, (_, at) => bytes.subarray(at * CHUNK, (at + 1) * CHUNK)),
    sha256: createHash('sha256').update(bytes).digest('hex'),
  }
}
