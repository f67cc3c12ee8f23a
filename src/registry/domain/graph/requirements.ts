import { satisfies, validRange } from '@renovatebot/pep440'
import { Type, type Static } from 'typebox'

/** Requirements of several packs that no version of a Python package meets together. */
export const RequirementConflict = Type.Object({
  package: Type.String({ description: 'Name of the Python package, normalised (PEP 503).' }),
  requirements: Type.Array(
    Type.Object({
      node_id: Type.String({ description: 'Id of the pack.' }),
      requirement: Type.String({ description: 'Its requirement, as it is published.' }),
    }),
  ),
  message: Type.String({ description: 'The conflict as a sentence.' }),
})
export type RequirementConflict = Static<typeof RequirementConflict>

/** Reads the name and the specifier of a requirement (PEP 508). */
type ReadRequirement = (line: string) => { name: string | undefined; specifier: string } | undefined

interface Required {
  node_id: string
  requirement: string
  specifier: string
}

/**
 * Finds packages whose requirements contradict each other. A requirement with a marker (`; sys_platform == …`), an address or a
 * specifier that cannot be read contradicts nothing here.
 */
export const findConflicts = (
  packs: readonly { node_id: string; dependencies: readonly string[] }[],
  readRequirement: ReadRequirement,
): RequirementConflict[] => {
  const packages = new Map<string, Required[]>()
  for (const { node_id, dependencies } of packs)
    for (const requirement of dependencies) {
      const { name, specifier = '' } = readRequirement(requirement) ?? {}
      if (name === undefined || requirement.includes(';') || !isSpecifier(specifier)) continue
      packages.set(name, [...(packages.get(name) ?? []), { node_id, requirement, specifier }])
    }
  return [...packages].flatMap(([name, all]) => {
    const needed = [...new Set(all.map(({ specifier }) => specifier))].slice(0, SPECIFIERS_MAX)
    return isPossible(needed) ? [] : [makeConflict(name, all)]
  })
}

const isSpecifier = (text: string): boolean => text !== '' && validRange(text)

/** Different specifiers of one package that are compared; the cost grows with their square. */
const SPECIFIERS_MAX = 12

const makeConflict = (name: string, all: readonly Required[]): RequirementConflict => {
  const requirements = all.map(({ node_id, requirement }) => ({ node_id, requirement }))
  const said = requirements.map((one) => `${one.node_id} asks for ${one.requirement}`).join(', ')
  return {
    package: name,
    requirements,
    message: `No version of ${name} meets all: ${said}. Install the packs into separate environments, or choose other versions.`,
  }
}

const VERSION = /\d+(?:\.\d+)*(?:(?:a|b|rc)\d+)?/g

/**
 * True where any version can meet all specifiers. Between two neighbours among the versions that they name nothing changes: it is
 * enough to ask those, one just above each, and one below all.
 */
const isPossible = (specifiers: readonly string[]): boolean => {
  const named = specifiers.flatMap((text) => text.match(VERSION) ?? [])
  const candidates = [
    '0',
    ...named.flatMap((one) => [one, `${one}.0.0.1`, `${one}.post1`, bump(one)]),
  ]
  return candidates.some((version) =>
    specifiers.every((text) => satisfies(version, text, { prereleases: true })),
  )
}

/** The next version of the same length: `1.4` after `1.3`, which `!=1.3.*` and `>1.3` allow. */
const bump = (version: string): string =>
  version.replace(/\d+$/, (last) => String(Math.min(Number(last) + 1, Number.MAX_SAFE_INTEGER)))
