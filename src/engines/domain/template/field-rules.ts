import { Type, type Static } from 'typebox'

import type { Member } from './custom-kind.ts'

/** Rules of a field of a custom kind besides those of its nodes, as the map beside its template has them. */
export const FieldRule = Type.Object({
  title: Type.Optional(Type.String({ minLength: 1, maxLength: 100 })),
  description: Type.Optional(Type.String({ minLength: 1, maxLength: 1000 })),
  minimum: Type.Optional(Type.Number()),
  maximum: Type.Optional(Type.Number()),
})
export type FieldRule = Static<typeof FieldRule>
export type FieldRules = Readonly<Record<string, FieldRule>>

/** Narrows a member, and gives it words of the author. Returns why it cannot be so instead. */
export const narrow = (member: Member, { minimum, maximum, title, ...own }: FieldRule) => {
  const words = { ...own, ...(title !== undefined && { 'x-title': title }) }
  if (minimum === undefined && maximum === undefined) return { ...member, ...words }
  if (member.type !== 'number' && member.type !== 'integer')
    return 'has a range, and its field is no number'
  const { minimum: least = -Infinity, maximum: most = Infinity, default: preset } = member
  const [low, high] = [minimum ?? least, maximum ?? most]
  const isWithin = low <= high && low >= least && high <= most
  if (!isWithin) return `is ${describe(low, high)}, and its node takes ${describe(least, most)}`
  if (preset !== undefined && (Number(preset) < low || Number(preset) > high))
    return `is ${describe(low, high)}, and the workflow has ${preset}`
  return {
    ...member,
    ...words,
    ...(low > -Infinity && { minimum: low }),
    ...(high < Infinity && { maximum: high }),
  }
}

const describe = (low: number, high: number): string =>
  [low, high].map((end) => (Number.isFinite(end) ? end : 'any')).join(' to ')
