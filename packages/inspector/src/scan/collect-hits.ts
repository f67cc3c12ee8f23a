import type { Hit } from './hit.ts'

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
