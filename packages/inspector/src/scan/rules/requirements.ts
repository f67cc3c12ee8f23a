import type { Hit } from '../hit.ts'
import { findNearName } from '../requirements/near-name.ts'
import { foreignPart, isBad } from '../requirements/known-bad.ts'
import { readRequirement } from '../requirements/requirement.ts'
import type { RequirementLine } from '../requirements/read-files.ts'

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
