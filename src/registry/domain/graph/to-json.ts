import type { Json } from '../comparison/read-json.ts'

/** A parsed body with maps in place of objects; bodies nest 64 levels at most. */
export const toJson = (value: unknown): Json => {
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== 'object' || value === null) return value as Json
  return new Map(Object.entries(value).map(([name, member]) => [name, toJson(member)]))
}
