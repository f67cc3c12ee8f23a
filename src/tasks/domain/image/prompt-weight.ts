import { shown } from '../../../platform/domain/errors.ts'

export interface WeightedText {
  text: string
  weight: number
}

const GROUP = /\(([^()]*)\)/g
const WEIGHT = /^\d+(\.\d+)?$/

/**
 * Splits a prompt into its weighted parts. `(phrase:weight)` counts `weight`, which lies between 1 and 1.4; text outside
 * such groups, and groups without a colon, count 1. Issues name the group.
 */
export const parsePrompt = (prompt: string): { parts: WeightedText[]; issues: string[] } => {
  const parts: WeightedText[] = []
  const issues: string[] = []
  let end = 0
  for (const group of prompt.matchAll(GROUP)) {
    const inner = group[1] ?? ''
    const colon = inner.lastIndexOf(':')
    if (colon < 0) continue
    parts.push({ text: prompt.slice(end, group.index), weight: 1 })
    end = group.index + group[0].length
    const phrase = inner.slice(0, colon).trim()
    const weight = readWeight(inner.slice(colon + 1).trim())
    if (weight === undefined || phrase === '')
      issues.push(
        `must weight a phrase as (phrase:weight) with a weight from 1 to 1.4, got ${shown(group[0])}`,
      )
    else parts.push({ text: phrase, weight })
  }
  parts.push({ text: prompt.slice(end), weight: 1 })
  return { parts: parts.filter((part) => part.text.trim() !== ''), issues }
}

const readWeight = (text: string): number | undefined => {
  const weight = WEIGHT.test(text) ? Number(text) : Number.NaN
  return weight >= 1 && weight <= 1.4 ? weight : undefined
}
