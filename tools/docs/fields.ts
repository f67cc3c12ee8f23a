import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'

import type { TObject } from 'typebox'

import { HostNode, RegisteredHostNode } from '../../src/registry/domain/host-node.ts'
import { PublisherMember } from '../../src/registry/domain/member.ts'
import { Node, NodeAdminUpdate, NodeUpdate } from '../../src/registry/domain/node.ts'
import {
  NewPersonalAccessToken,
  PersonalAccessToken,
} from '../../src/identity/domain/personal-access-token.ts'
import { Publisher, NewPublisher } from '../../src/registry/domain/publisher.ts'
import { NewVersion, Version, VersionAdminUpdate } from '../../src/registry/domain/version.ts'
import { makeList, makePage, wrap } from './markdown.ts'

type Fields = Pick<TObject, 'properties'>

/** A record of the registry: whose bodies set its fields, and the folder of the console that shows them. */
interface Shown {
  title: string
  schema: Fields
  member?: Fields
  admin?: Fields
}

/** The records whose fields each have a writer, a place where they are seen, and a test. */
export const RECORDS: readonly Shown[] = [
  { title: 'Node', schema: Node, member: NodeUpdate, admin: NodeAdminUpdate },
  { title: 'NodeVersion', schema: Version, member: NewVersion, admin: VersionAdminUpdate },
  { title: 'HostNode', schema: HostNode, member: RegisteredHostNode },
  { title: 'Publisher', schema: Publisher, member: NewPublisher },
  { title: 'PublisherMember', schema: PublisherMember },
  { title: 'PersonalAccessToken', schema: PersonalAccessToken, member: NewPersonalAccessToken },
]

/** Gives each field of these records a value and reads it back. */
const TEST = 'test/registry/http/registry-fields.test.ts'

/** The page of all fields of the registry's records. */
export const makeFieldsPage = async (root: string): Promise<string> => {
  const sources = await readConsole(join(root, 'packages/console/src'))
  return makePage('Fields of the registry', 'the schemas of the registry and the console', [
    wrap(INTRO),
    ...RECORDS.flatMap((record) => [
      `## ${record.title}`,
      makeList(
        Object.entries(record.schema.properties).map(([name, field]) => {
          const seen = listSeen(sources, name)
          return `\`${name}\`, set by ${whoSets(record, name)}${seen ? `; console: ${seen}` : ''}. ${'description' in field ? String(field.description) : ''}`
        }),
      ),
    ]),
  ])
}

const INTRO = `Who sets each field, in which files of \`packages/console/src\` it is seen, and what it is. All are in the responses of the API.
\`${TEST}\` gives each a value and reads it back, and fails for a field without one.`

const whoSets = ({ member, admin }: Shown, name: string): string => {
  const isOf = (fields: Fields | undefined) => fields !== undefined && name in fields.properties
  if (isOf(member)) return isOf(admin) ? 'members and platform admins' : 'members'
  return isOf(admin) ? 'platform admins' : 'the service'
}

interface Source {
  path: string
  text: string
}

const readConsole = async (folder: string): Promise<Source[]> => {
  const paths = (await readdir(folder, { recursive: true })).filter((path) => /\.tsx?$/.test(path))
  return await Promise.all(
    paths
      .toSorted((a, b) => (a < b ? -1 : 1))
      .map(async (path) => ({
        path,
        text: await readFile(join(folder, path), 'utf8'),
      })),
  )
}

const FILES_MAX = 2

const listSeen = (sources: readonly Source[], name: string): string => {
  const field = new RegExp(`\\b${name}\\b`)
  return sources
    .filter(
      ({ path, text }) =>
        /^(registry|publish|moderation|host-node|manage|account)\//.test(path) && field.test(text),
    )
    .slice(0, FILES_MAX)
    .map(({ path }) => `\`${path}\``)
    .join(', ')
}
