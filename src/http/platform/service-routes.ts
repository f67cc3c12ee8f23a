import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { Type } from 'typebox'
import type { Static } from 'typebox'

import { VERSION } from '../openapi/document.ts'
import { defineRoute } from '../route.ts'
import type { Route } from '../route.ts'

const count = (description: string) => Type.Integer({ minimum: 0, description })

/** What a page must know of the service before anybody has signed in. */
export const Service = Type.Object({
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
    Type.String({
      description: 'Command that installs a node, with `{node}`, `{version}` and `{url}` in it.',
    }),
  ),
  development: Type.Boolean({ description: 'Whether `POST /development/tokens` gives tokens.' }),
  video_auth: Type.Enum(['optional', 'required'], {
    description: 'Whether video routes need a credential.',
  }),
  limits: Type.Object({
    image_bytes: count('Largest image, decoded.'),
    image_pixels: count('Most pixels of an image.'),
    archive_bytes: count('Largest archive of a version.'),
    result_days: count('Days that files stay after the end of their task.'),
    search_depth: count('Largest page × page size of searches.'),
    video_slots: count('Video tasks of an owner that run at once.'),
    open_tasks: count('Open tasks of an owner.'),
    stored_bytes: count('Bytes kept for an owner.'),
    credits: Type.Optional(count('Most credits of an owner; absent: no limit.')),
  }),
})
export type Service = Static<typeof Service>

export interface ServiceDeps {
  service: Omit<Service, 'version'>
}

const EXAMPLE: Service = {
  version: VERSION,
  build: '5f2b9c0e7d31a864',
  issuer: 'https://issuer.example.com',
  client_id: 'kiln-console',
  scopes: 'openid profile email',
  auth_params: { audience: 'kiln' },
  development: false,
  video_auth: 'optional',
  limits: {
    image_bytes: 50_000_000,
    image_pixels: 100_000_000,
    archive_bytes: 268_435_456,
    result_days: 30,
    search_depth: 10_000,
    video_slots: 5,
    open_tasks: 10_000,
    stored_bytes: 107_374_182_400,
  },
}

/** What the service is, for pages and clients. */
export const makeServiceRoutes = ({ service }: ServiceDeps): Route[] => [
  defineRoute({
    method: 'get',
    path: '/service',
    tag: 'Documentation',
    summary: 'Read what a page must know of the service',
    auth: 'none',
    read: 'public',
    requestHeaders: ['If-None-Match'],
    responses: { 200: { description: 'The service.', schema: Service, example: EXAMPLE } },
    errors: [],
    handler: () =>
      Promise.resolve({
        status: 200,
        headers: { 'cache-control': 'no-cache' },
        body: { version: VERSION, ...service },
      }),
  }),
]

/** The code lies in `dist/` or `.built/`, and the console in `dist/console/`. */
const CODE = join(import.meta.dirname, '../../..')
const BUILT = ['manifest.json', 'console/index.html', '../dist/console/index.html']

/** Names the build of the code and of the console: what the compiler noted, and the page with its hashed names. */
export const readBuild = async (): Promise<string> => {
  const digest = createHash('sha256')
  for (const file of BUILT)
    digest.update(await readFile(join(CODE, file)).catch(() => Buffer.from('-')))
  return digest.digest('hex').slice(0, 16)
}
