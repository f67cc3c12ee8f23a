import { Type, type Static } from 'typebox'

import { NodeUpdate, type NodeFields } from './node.ts'
import { warnings } from './registry-fields.ts'
import { NewVersion, Version } from './version.ts'

/** Body of POST /publishers/{p}/nodes/{n}/versions. */
export const PublishBody = Type.Object({
  node: NodeUpdate,
  node_version: NewVersion,
  personal_access_token: Type.String({
    writeOnly: true,
    description: 'A live token of the publisher.',
  }),
})
export type PublishBody = Static<typeof PublishBody>

/** Its response. */
export const Published = Type.Object({
  node_version: Version,
  signedUrl: Type.String({ format: 'uri', description: 'PUT the archive here.' }),
  warnings,
})
export type Published = Static<typeof Published>

/**
 * Picks what a publish body says about its node. Empty texts and lists are dropped, because publishing tools send them
 * for everything that a project file leaves out.
 */
export const publishedFields = (node: NodeUpdate): NodeFields =>
  Object.fromEntries(
    Object.entries(node).filter(([name, value]) => name !== 'id' && !isEmpty(value)),
  )

const isEmpty = (value: unknown): boolean =>
  value === '' || (Array.isArray(value) && value.length === 0)
