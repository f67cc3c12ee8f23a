import { readFile } from 'node:fs/promises'

import { Type, type Static } from 'typebox'
import { Value } from 'typebox/value'

import type { Sql } from '../platform/db/client.ts'
import { putBuiltIn } from '../registry/db/graph.ts'
import { OperatorError } from '../platform/process/operator-error.ts'

/** The part of a host's `GET /object_info` that says where each of its host nodes comes from. */
const ObjectInfo = Type.Record(
  Type.String({ minLength: 1, maxLength: 500 }),
  Type.Object({ python_module: Type.Optional(Type.String()) }),
)
type ObjectInfo = Static<typeof ObjectInfo>

/** Takes the names of the host's own nodes from a file. Nodes of packs that the host had loaded are left out. */
export const putHostNodes = async (sql: Sql, path: string): Promise<string> => {
  const names = listOwn(await readObjectInfo(path))
  if (names.length === 0)
    throw new OperatorError(`${path} has no host node that is not of a pack: nothing was changed`)
  await putBuiltIn(sql, names)
  return `${names.length} host nodes are known as parts of the host`
}

const readObjectInfo = async (path: string): Promise<ObjectInfo> => {
  const expected = 'save what GET /object_info of a host gives'
  try {
    const given: unknown = JSON.parse(await readFile(path, 'utf8'))
    if (Value.Check(ObjectInfo, given)) return given
  } catch (error) {
    throw new OperatorError(`${path} cannot be read: ${String(error)}; ${expected}`)
  }
  throw new OperatorError(`${path} must be host nodes by name; ${expected}`)
}

const listOwn = (given: ObjectInfo): string[] =>
  Object.entries(given)
    .filter(([, { python_module: module = '' }]) => !module.startsWith('custom_nodes'))
    .map(([name]) => name)
