import type { ArchiveFact } from '../archive/result.ts'
import type { FindingsSection, Severity } from '../inspection.ts'
import type { Pack } from '../pack.ts'
import type { Module } from '../python/ast.ts'
import { makeFindings, type RatedHit } from './findings.ts'
import { collectHits, foldHits, type Hit } from './hit.ts'
import { RULES } from './rule-table.ts'
import { SCANNER, SCANNER_VERSION } from '../versions.ts'
import { SCAN_LIMITS, scanSources, type ScanLimits, type ScannedSources } from './scan-sources.ts'
import type { ImportedModule } from './source/walk.ts'
import { readRequirementLines } from './requirements/read-files.ts'
import { findArchiveFacts, findBinaries, findScripts, listBinaries } from './rules/binaries.ts'
import { findSecretsInText } from './rules/live-secret.ts'
import { findBadRequirements } from './rules/requirements.ts'

export interface ScanInput {
  pack: Pack
  archiveFacts?: readonly ArchiveFact[]
  /**
   * The parsed file of an archive path, shared with the interpreter; asked for each `.py` file whose text was kept,
   * again only in a pack of more than 8 MB. Undefined if it can't be parsed.
   */
  modules: (path: string) => Module | undefined
  /** Archive paths of the files that `__init__.py` reaches. */
  reached: ReadonlySet<string>
  /** Requirements of the version, apart from those in files. */
  dependencies?: readonly string[]
  limits?: ScanLimits
  /** Milliseconds that only grow; without it there is no limit of time. */
  now?: () => number
}

/**
 * Looks for what is dangerous in a pack. It never throws, whatever the files are; `complete` is false when a budget was
 * spent or a file was too hostile to be scanned.
 */
export const scanPack = (input: ScanInput): FindingsSection => {
  const { pack, modules, reached, limits = SCAN_LIMITS, now = () => 0 } = input
  const scanned = scanSources({ pack, modules, reached, limits, now })
  const others = scanEntries(input, scanned.opened)
  const scripts = listHostScripts(pack.root, scanned)
  const checked = [...foldHits(others.hits, limits.perRuleAndFile), ...scanned.hits].flatMap(
    (hit) => rateHit(hit, pack.root, (path) => reached.has(path) || scripts.has(path)),
  )
  return {
    scanner: SCANNER,
    scannerVersion: SCANNER_VERSION,
    complete: scanned.complete && others.complete,
    findings: makeFindings(checked, limits.findings),
    counts: countOf(checked),
    tags: tagsOf(checked),
  }
}

const rateHit = (hit: Hit, root: string, isRun: (path: string) => boolean): RatedHit[] => {
  const { path, rule, tier = RULES[rule].tier } = hit
  const severity: Severity | undefined =
    path === undefined || isRun(path)
      ? tier
      : tierAt(tier, path.startsWith(root) ? path.slice(root.length) : path)
  return severity ? [{ ...hit, severity }] : []
}

/**
 * The tier of a finding in a file that no host runs by itself. Among tests, documentation and examples it is one
 * lower, and undefined when that is below info. `path` is relative to the pack.
 */
const tierAt = (tier: Severity, path: string): Severity | undefined =>
  isAside(path) ? LOWER[tier] : tier

const LOWER: Record<Severity, Severity | undefined> = {
  high: 'medium',
  medium: 'info',
  info: undefined,
}

/** Folders and files that hosts do not run. */
const isAside = (path: string): boolean =>
  /(?:^|\/)(?:tests?|docs?|examples?)\//i.test(path) ||
  /(?:^|\/)(?:test_[^/]*\.py|conftest\.py)$/i.test(path)

const countOf = (checked: readonly RatedHit[]): FindingsSection['counts'] => {
  const counts = { high: 0, medium: 0, info: 0 }
  for (const { severity, times = 1 } of checked) counts[severity] += times
  return counts
}

const tagsOf = (checked: readonly RatedHit[]): string[] =>
  [
    ...new Set(
      checked.filter(({ severity }) => severity === 'medium').map(({ rule }) => `security:${rule}`),
    ),
  ].toSorted()

/**
 * Hosts and installers run `install.py` and `prestartup_script.py` by themselves. Lists these two and the files of
 * the pack that they import.
 */
const listHostScripts = (root: string, { imports }: ScannedSources): Set<string> => {
  const todo = SCRIPTS.map((name) => root + name).filter((path) => imports.has(path))
  const found = new Set(todo)
  for (let path = todo.pop(); path !== undefined; path = todo.pop())
    for (const next of (imports.get(path) ?? []).flatMap((imported) =>
      candidates(imported, path, root),
    ))
      if (imports.has(next) && !found.has(next)) {
        found.add(next)
        todo.push(next)
      }
  return found
}

const SCRIPTS = ['install.py', 'prestartup_script.py']

/** Files that an import may mean: from the importing file's folder, which is on the path of a script, or the pack's root. */
const candidates = (
  { level, module, names }: ImportedModule,
  from: string,
  root: string,
): string[] => {
  const folder = from.split('/').slice(0, -Math.max(level, 1))
  const starts = new Set([folder.join('/'), ...(level === 0 ? [root.replace(/\/$/, '')] : [])])
  const steps = module === '' ? [] : module.split('.')
  return [...starts].flatMap((start) =>
    [steps, ...names.map((name) => [...steps, name])]
      .filter((parts) => parts.length > 0)
      .map((parts) => [...(start === '' ? [] : [start]), ...parts].join('/'))
      .flatMap((stem) => [`${stem}.py`, `${stem}/__init__.py`]),
  )
}

/**
 * Applies the rules about whole files, texts that are no Python, and requirements. `opened` names the archives that
 * Python opens. `complete` is false when a rule failed.
 */
const scanEntries = (
  { pack, archiveFacts = [], dependencies = [] }: ScanInput,
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
