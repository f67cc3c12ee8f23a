import { randomBytes } from 'node:crypto'

import type { Service } from '../../test/support/service.ts'
import { writeZip } from '../../test/support/zip-writer.ts'
import { bearer, callJson } from '../support/call.ts'

/** Publisher, user and credentials of a publication. */
export interface Target {
  publisherId: string
  userId: string
  tokenId: string
  /** The personal access token itself. */
  token: string
}

/** A publisher of the bench's own, with a token. */
export const makeTarget = async (service: Service): Promise<Target> => {
  const headers = await bearer(service, 'bench')
  const post = (path: string, body: object) =>
    callJson<{ token?: string }>(service.baseUrl + path, { headers, body })
  await post('/publishers', { id: 'bench' })
  const { token = '' } = await post('/publishers/bench/tokens', { name: 'bench' })
  const [row] = await service.database.sql<{ id: string }[]>`select id from personal_access_token`
  return { publisherId: 'bench', userId: 'bench', tokenId: row?.id ?? '', token }
}

/** Publishes a version with its archive and resolves when it is Active. */
export type PublishOnce = (
  archive: Buffer,
  version: { nodeId: string; version: string },
) => Promise<void>

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

/** A zip of a small pack and of so many bytes of noise, which no reader can shorten. */
export const makeArchive = (size: number): Buffer =>
  writeZip([
    { name: '__init__.py', data: PACK },
    { name: 'weights.safetensors', data: randomBytes(size) },
  ])
