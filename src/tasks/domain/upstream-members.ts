import type { FurtherMembers } from '../../platform/domain/schema-fields.ts'
import type { EngineName } from './engine.ts'

/** Warns of members that an upstream would take, where another engine has the task. */
export const listUntaken = (
  body: object,
  { engine, members = {} }: { engine: EngineName; members: FurtherMembers | undefined },
): string[] => {
  const names = Object.keys(body).filter((name) => Object.hasOwn(members, name))
  return engine === 'vendor' || names.length === 0
    ? []
    : [`${names.map((name) => `/${name}`).join(', ')}: only an upstream takes this`]
}
