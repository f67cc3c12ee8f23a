import type { ArchiveEntry } from '../archive/entry.ts'
import type { Pack } from '../pack.ts'
import type { Module } from '../python/ast.ts'
import { findUnknownEncoding } from '../python/source-text.ts'
import { foldHits, type Hit } from './hit.ts'
import { archivesOpened, listBinaries, type Binary } from './rules/binaries.ts'
import { scanFile } from './scan-file.ts'
import { readSource, type SourceFile } from './source/source-file.ts'
import type { ImportedModule } from './source/walk.ts'
import { makeWalkedFiles, type WalkedFiles } from './source/walked-files.ts'

interface Sources {
  pack: Pack
  modules: (path: string) => Module | undefined
  reached: ReadonlySet<string>
  limits: ScanLimits
  now: () => number
}

export interface ScannedSources {
  hits: Hit[]
  /** Names of the archives that Python opens. */
  opened: Set<string>
  imports: Map<string, readonly ImportedModule[]>
  complete: boolean
}

/** Scans Python files as long as the budgets last. Those that run by themselves come first. */
export const scanSources = (sources: Sources): ScannedSources => {
  const { limits, now } = sources
  const scan: Scan = {
    ...sources,
    binaries: listBinaries(sources.pack.entries),
    walked: makeWalkedFiles(sources.pack, sources.modules),
    scanned: { hits: [], opened: new Set(), imports: new Map(), complete: true },
  }
  const [start, files] = [now(), orderSources(sources)]
  let bytes = 0
  for (const [at, entry] of files.entries()) {
    bytes += entry.text?.length ?? 0
    if (bytes > limits.sourceBytes || now() - start > limits.milliseconds) {
      giveUp(scan, undefined, `${files.length - at} of the files, because the budget was spent`)
      break
    }
    scanEntry(entry, scan)
  }
  if (scan.walked.isSpent()) giveUp(scan, undefined, 'files import each other too often')
  return scan.scanned
}

interface Scan extends Sources {
  walked: WalkedFiles
  binaries: readonly Binary[]
  scanned: ScannedSources
}

const orderSources = ({ pack, reached }: Sources): ArchiveEntry[] => {
  const rank = ({ path }: ArchiveEntry): number =>
    reached.has(path) ? 0 : /(?:^|\/)(?:install|prestartup_script)\.py$/.test(path) ? 1 : 2
  return pack.entries
    .filter(({ path }) => /\.py$/i.test(path))
    .toSorted((left, right) => rank(left) - rank(right))
}

const scanEntry = (entry: ArchiveEntry, scan: Scan): void => {
  if (!entry.text) return send(scan, entry.path, `${entry.bytes} bytes are too many`)
  const encoding = findUnknownEncoding(entry.text)
  if (encoding !== undefined) send(scan, entry.path, `the encoding ${encoding} is not known`)
  try {
    const file = scan.walked.get(entry.path)
    if (file) scanModule(readSource(file), scan)
    else giveUp(scan, entry.path, 'it could not be parsed')
  } catch {
    // Whatever a hostile file does to the scan costs that file's findings only, and is reported.
    giveUp(scan, entry.path, 'the scan of it could not end')
  }
}

const scanModule = (file: SourceFile, scan: Scan): void => {
  scan.scanned.imports.set(file.path, file.imports)
  for (const name of archivesOpened(file)) scan.scanned.opened.add(name)
  const { hits, complete } = scanFile(file, scan.binaries)
  const lines = hits.length > 0 ? file.module.text.split('\n') : []
  for (const hit of foldHits(hits, scan.limits.perRuleAndFile))
    scan.scanned.hits.push({ ...hit, text: lines[(hit.line ?? 0) - 1] })
  if (!complete) giveUp(scan, file.path, 'the scan of it could not end')
}

/** Code that nobody has seen must not become active. */
const giveUp = (scan: Scan, path: string | undefined, detail: string): void => {
  scan.scanned.complete = false
  send(scan, path, detail)
}

const send = ({ scanned }: Scan, path: string | undefined, detail: string): void => {
  scanned.hits.push({ rule: 'not-scanned', path, detail })
}

export const SCAN_LIMITS = {
  /** Findings listed of one rule in one file. */
  perRuleAndFile: 20,
  /** Findings listed in all. */
  findings: 500,
  /** Bytes of Python source. */
  sourceBytes: 64 * 1024 * 1024,
  milliseconds: 60_000,
}

export type ScanLimits = typeof SCAN_LIMITS
