import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Type, type Static } from 'typebox'

import { PublicPause } from '../domain/pause.ts'
import { VERSION } from '../../platform/domain/release.ts'
import { defineRoute, ok, type Route } from '../../platform/http/route.ts'
import type { PublicPauses } from './pauses.ts'

const count = Type.Integer({ minimum: 0 })

/** Facts about the service that a page needs before anybody has signed in. */
const Service = Type.Object({
  version: Type.String({ description: 'Version of the API.' }),
  build: Type.String({ description: 'Changes with each build of the code or of the console.' }),
  issuer: Type.String({ description: 'Issuer of bearer tokens.' }),
  client_id: Type.Optional(
    Type.String({ description: 'Client of the console at the issuer; absent: none is set.' }),
  ),
  scopes: Type.String({ description: 'Scopes to ask the issuer for, parted by blanks.' }),
  auth_params: Type.Object(
    {},
    { additionalProperties: Type.String(), description: 'Further parameters of that request.' },
  ),
  install: Type.Optional(
    Type.String({ description: 'Installs a pack: `{node}`, `{version}` and `{url}` are in it.' }),
  ),
  samples: Type.Boolean({
    description: 'Whether the console shows visitors results that were computed before.',
  }),
  development: Type.Boolean({ description: 'Whether `POST /development/tokens` gives tokens.' }),
  video_auth: Type.Enum(['optional', 'required']),
  registry_reads: Type.Enum(['public', 'signed-in', 'members'], {
    description: 'Who may read the registry.',
  }),
  paused: Type.Optional(
    Type.Array(PublicPause, {
      description: 'What does not begin for now: tasks are taken, and wait. Absent: nothing.',
    }),
  ),
  limits: Type.Object(
    {
      image_bytes: count,
      image_pixels: count,
      archive_bytes: count,
      result_days: count,
      search_depth: count,
      video_slots: count,
      open_tasks: count,
      stored_bytes: count,
      credits: Type.Optional(count),
      key_days: Type.Optional(count),
    },
    {
      description:
        'As the settings have them; without `credits` or `key_days`, the life of a key, there is no limit of them.',
    },
  ),
})

export interface ServiceDeps {
  service: Omit<Static<typeof Service>, 'version' | 'paused'>
  pauses: PublicPauses
}

/** Makes the route that describes the service, for pages and clients. */
export const makeServiceRoutes = ({ service, pauses }: ServiceDeps): Route[] => [
  defineRoute({
    method: 'get',
    path: '/service',
    tag: 'Documentation',
    summary: 'Read what a page must know of the service',
    auth: 'none',
    read: 'public',
    requestHeaders: ['If-None-Match'],
    responses: ok('The service.', Service),
    errors: [],
    handler: () => {
      const paused = pauses.list()
      return Promise.resolve({
        status: 200,
        headers: { 'cache-control': 'no-cache' },
        body: { version: VERSION, ...service, ...(paused.length > 0 && { paused }) },
      })
    },
  }),
]

/** `dist/` or `.built/` */
const CODE = join(import.meta.dirname, '../../..')
const BUILT = ['manifest.json', 'console/index.html']

/** Names the build of the code and of the console: what the compiler noted, and the page with its hashed names. */
export const readBuild = async (): Promise<string> => {
  const digest = createHash('sha256')
  for (const file of BUILT)
    digest.update(await readFile(join(CODE, file)).catch(() => Buffer.from('-')))
  return digest.digest('hex').slice(0, 16)
}
