import type { Hit } from '../hit.ts'
import { foreignPart, isBad } from '../requirements/known-bad.ts'
import { readRequirement } from '../requirements/requirement.ts'
import type { RequirementLine } from '../requirements/read-files.ts'
import { ALIKE, WELL_KNOWN_NAMES } from '../data/well-known-names.ts'

/** bad-requirement, foreign-requirement, near-name. */
export const findBadRequirements = (lines: readonly RequirementLine[]): Hit[] =>
  lines.flatMap(({ text, path, line }): Hit[] => {
    const requirement = readRequirement(text)
    if (!requirement) return []
    const bad = isBad(requirement)
    if (bad !== undefined) return [{ rule: 'bad-requirement', path, line, text, detail: bad }]
    const foreign = foreignPart(requirement)
    if (foreign !== undefined)
      return [{ rule: 'foreign-requirement', path, line, text, detail: foreign }]
    const { name } = requirement
    const near = name === undefined ? undefined : findNearName(name)
    return near === undefined
      ? []
      : [{ rule: 'near-name', path, line, text, detail: `${name} instead of ${near}?` }]
  })

/**
 * Finds the well-known project whose name this one may misspell: one letter more, less or other, or two neighbours
 * swapped. Undefined for a well-known name itself, for those meant as they are, and for short ones, which are all
 * near each other. Names that differ by a digit only are versions of one thing.
 */
export const findNearName = (name: string): string | undefined => {
  if (name.length < SHORTEST || WELL_KNOWN_NAMES.has(name) || ALIKE.has(name)) return undefined
  for (const known of WELL_KNOWN_NAMES) if (isNear(name, known)) return known
  return undefined
}

const SHORTEST = 5

const isNear = (name: string, known: string): boolean => {
  const difference = name.length - known.length
  if (known.length < SHORTEST || Math.abs(difference) > 1) return false
  if (withoutDigits(name) === withoutDigits(known)) return false
  const start = commonStart(name, known)
  if (difference === 1) return name.slice(start + 1) === known.slice(start)
  if (difference === -1) return name.slice(start) === known.slice(start + 1)
  return (
    name.slice(start + 1) === known.slice(start + 1) ||
    (name[start] === known[start + 1] &&
      name[start + 1] === known[start] &&
      name.slice(start + 2) === known.slice(start + 2))
  )
}

const withoutDigits = (name: string): string => name.replaceAll(/\d/g, '')

const commonStart = (left: string, right: string): number => {
  let at = 0
  while (at < left.length && left[at] === right[at]) at += 1
  return at
}
