import type { Claim } from './resolve.ts'

/** A name that several packs have, the best claim first. */
export interface Ambiguous {
  name: string
  claims: readonly Claim[]
}

/** Most names for which the fewest packs are found exactly: each doubles the sets that are looked at. */
export const EXACT_MAX = 12

/** A set of packs, each by one of its claims. */
interface Packs {
  claims: readonly Claim[]
  ranking: number
  downloads: number
}

const NONE: Packs = { claims: [], ranking: 0, downloads: 0 }

const add = ({ claims, ranking, downloads }: Packs, claim: Claim): Packs => ({
  claims: [...claims, claim],
  ranking: ranking + claim.ranking,
  downloads: downloads + claim.downloads,
})

/** Negative where the first set is better: fewer packs, then better rankings together, then more downloads. */
const compare = (one: Packs, other: Packs): number =>
  one.claims.length - other.claims.length ||
  one.ranking - other.ranking ||
  other.downloads - one.downloads

const best = (all: readonly Packs[]): Packs | undefined =>
  all.reduce<Packs | undefined>(
    (found, one) => (found && compare(found, one) <= 0 ? found : one),
    undefined,
  )

/**
 * Chooses the fewest packs that have all of these names, beside those that are needed anyway: exactly up to `EXACT_MAX` names
 * that none of those has, and above that the pack with the most of the names that are left, again and again.
 */
export const chooseFewest = (
  names: readonly Ambiguous[],
  needed: ReadonlySet<string>,
): { claims: Map<string, Claim>; isExact: boolean } => {
  const open = names.filter(({ claims }) => !claims.some(({ nodeId }) => needed.has(nodeId)))
  const isExact = open.length <= EXACT_MAX
  const added = isExact ? coverExactly(open) : coverStepwise(open)
  const packs = new Set([...needed, ...added.claims.map(({ nodeId }) => nodeId)])
  const chosen = names.flatMap(({ name, claims }) => {
    const claim = claims.find(({ nodeId }) => packs.has(nodeId))
    return claim ? [[name, claim] as const] : []
  })
  return { claims: new Map(chosen), isExact }
}

/** The names that each pack has, as bits of their places. */
const bitsOf = (names: readonly Ambiguous[]): Map<string, number> => {
  const bits = new Map<string, number>()
  for (const [place, { claims }] of names.entries())
    for (const { nodeId } of claims) bits.set(nodeId, (bits.get(nodeId) ?? 0) | (1 << place))
  return bits
}

/** Goes through all sets of names from the smallest: the best packs of a set are a pack of one more name, and the best of the rest. */
const coverExactly = (names: readonly Ambiguous[]): Packs => {
  const bits = bitsOf(names)
  const found: Packs[] = [NONE]
  for (let set = 1; set < 1 << names.length; set++) {
    // Its last name is in one of the packs that have it.
    const { claims } = names[31 - Math.clz32(set)] ?? { claims: [] }
    const ways = claims.map((claim) =>
      add(found[set & ~(bits.get(claim.nodeId) ?? 0)] ?? NONE, claim),
    )
    found.push(best(ways) ?? NONE)
  }
  return found.at(-1) ?? NONE
}

const coverStepwise = (names: readonly Ambiguous[]): Packs => {
  let packs = NONE
  for (let open = names; open.length > 0;) {
    const covered = new Map<string, number>()
    for (const { claims } of open)
      for (const { nodeId } of claims) covered.set(nodeId, (covered.get(nodeId) ?? 0) + 1)
    const widestCount = Math.max(...covered.values())
    const widest = open.flatMap(({ claims }) =>
      claims.filter(({ nodeId }) => covered.get(nodeId) === widestCount),
    )
    const next = best(widest.map((claim) => add(NONE, claim)))?.claims[0]
    if (!next) break
    packs = add(packs, next)
    open = open.filter(({ claims }) => !claims.some(({ nodeId }) => nodeId === next.nodeId))
  }
  return packs
}
