import type { Severity } from '../inspection.ts'
import type { RuleId } from './rule-table.ts'
import type { CallSite, SourceFile } from './source/source-file.ts'

/** Report of a rule, before tier, caps and snippet. */
export interface Hit {
  rule: RuleId
  /** Within the archive; undefined when it is in no file. */
  path?: string | undefined
  /** From 1; undefined when it is about the whole file. */
  line?: number | undefined
  /** Exact thing that was found, to follow the rule's title. */
  detail?: string | undefined
  /** Text of the line, of which a finding shows a part. */
  text?: string | undefined
  /** Number of hits that it stands for, where it is not listed itself. */
  times?: number
  /** Instead of the rule's own. */
  tier?: Severity
}

/** A rule that fails costs no other rule's hits. */
export const collectHits = (
  rules: readonly (() => Hit[])[],
): { hits: Hit[]; complete: boolean } => {
  const hits: Hit[] = []
  let complete = true
  for (const find of rules)
    try {
      for (const hit of find()) hits.push(hit)
    } catch {
      complete = false
    }
  return { hits, complete }
}

/**
 * Keeps each hit once, and of one rule in one file the first `most` by line. One hit counts for the rest, so that a
 * hostile file of a million calls leaves no million findings.
 */
export const foldHits = (hits: Iterable<Hit>, max: number): Hit[] =>
  [...groupHits(hits).values()].flatMap((group) => {
    const all = [...group.values()].toSorted((left, right) => (left.line ?? 0) - (right.line ?? 0))
    const [next] = all.slice(max)
    return next
      ? [...all.slice(0, max), { ...next, line: undefined, times: all.length - max }]
      : all
  })

const groupHits = (hits: Iterable<Hit>): Map<string, Map<string, Hit>> => {
  const groups = new Map<string, Map<string, Hit>>()
  for (const hit of hits) {
    const key = `${hit.rule}\n${hit.path ?? ''}`
    const group = groups.get(key) ?? new Map<string, Hit>()
    group.set(`${hit.line ?? 0}\n${hit.detail ?? ''}`, hit)
    groups.set(key, group)
  }
  return groups
}

/** Report of a rule about one call. */
export type Found = Pick<Hit, 'rule' | 'detail'>

/** Makes a rule that checks every call of a file by itself. */
export const eachCall =
  (findIn: (site: CallSite) => Found | undefined) =>
  (file: SourceFile): Hit[] =>
    file.calls.flatMap((site) => {
      const found = findIn(site)
      return found ? [{ ...found, path: file.path, line: site.call.line }] : []
    })
