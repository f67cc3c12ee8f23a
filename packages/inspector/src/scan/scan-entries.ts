import type { ArchiveFact } from '../archive/result.ts'
import type { Pack } from '../pack.ts'
import { collectHits } from './collect-hits.ts'
import type { Hit } from './hit.ts'
import { readRequirementLines } from './requirements/read-files.ts'
import { findArchiveFacts } from './rules/archive-facts.ts'
import { findBinaries, findScripts, listBinaries } from './rules/binaries.ts'
import { findSecretsInText } from './rules/live-secret.ts'
import { findBadRequirements } from './rules/requirements.ts'

interface Entries {
  pack: Pack
  archiveFacts?: readonly ArchiveFact[]
  dependencies?: readonly string[]
}

/**
 * Applies the rules about whole files, texts that are no Python, and requirements. `opened` names the archives that
 * Python opens. `complete` is false when a rule failed.
 */
export const scanEntries = (
  { pack, archiveFacts = [], dependencies = [] }: Entries,
  opened: ReadonlySet<string>,
): { hits: Hit[]; complete: boolean } => {
  const { entries } = pack
  const paths = new Set(entries.map(({ path }) => path))
  return collectHits([
    () => findBinaries(listBinaries(entries), paths),
    () => findScripts(entries),
    () => findArchiveFacts(archiveFacts, opened),
    () => findBadRequirements(readRequirementLines(pack, dependencies)),
    ...entries.map((entry) => () => findSecretsInText(entry)),
  ])
}
