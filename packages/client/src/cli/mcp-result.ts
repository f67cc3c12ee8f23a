import type { CallToolResult } from '@modelcontextprotocol/server'

import { describeError } from './error.ts'
import { cleanText } from './words.ts'

/** Most characters of a result: some 4,000 tokens. */
const RESULT_MAX = 12_000
const cleanAll = (value: unknown): unknown => {
  if (typeof value === 'string') return cleanText(value)
  if (Array.isArray(value)) return value.map(cleanAll)
  if (Object(value) !== value) return value
  return Object.fromEntries(
    Object.entries(value as object).map(([name, each]) => [cleanText(name), cleanAll(each)]),
  )
}

/** Lists of a value, at any depth, each with its name. */
const listLists = (value: unknown, name = ''): { name: string; list: unknown[] }[] => {
  if (Object(value) !== value) return []
  const inner = Object.entries(value as object).flatMap(([own, each]) =>
    listLists(each, Array.isArray(value) ? name : own),
  )
  return Array.isArray(value) ? [{ name, list: value }, ...inner] : inner
}

/** Shortens the longest list until the text fits; returns how many items of each are left out. */
const shorten = (value: object): Record<string, number> => {
  const leftOut: Record<string, number> = {}
  while (JSON.stringify(value).length > RESULT_MAX) {
    const [longest] = listLists(value).toSorted((one, other) => other.list.length - one.list.length)
    if (longest === undefined || longest.list.length < 2) break
    const { name, list } = longest
    leftOut[name] = (leftOut[name] ?? 0) + list.splice(Math.ceil(list.length / 2)).length
  }
  return leftOut
}

/** A result that fits into the view of a model, and says what it leaves out. The text alone: a host would show both forms. */
export const toResult = (value: object, rest = 'Ask for less.'): CallToolResult => {
  const shown = cleanAll(value) as object
  const left_out = shorten(shown)
  const isWhole = Object.keys(left_out).length === 0
  const text = JSON.stringify(isWhole ? shown : { left_out, rest, ...shown })
  return { content: [{ type: 'text', text }] }
}

export const toFailure = (error: unknown): CallToolResult => {
  const { code, message, details } = describeError(error)
  const lines = [`${code}: ${message}`, ...details].map((line) => cleanText(line, 1000))
  return { content: [{ type: 'text', text: lines.slice(0, 20).join('\n') }], isError: true }
}
