import { collectHits } from './collect-hits.ts'
import type { Hit } from './hit.ts'
import { findUsedBinaries } from './rules/binary-used.ts'
import type { Binary } from './rules/binaries.ts'
import { findCodeObjects } from './rules/code-object.ts'
import { findCounted } from './rules/counted.ts'
import { findCredentialReads } from './rules/credential-read.ts'
import { findDownloadRuns } from './rules/download-run.ts'
import { findDynamicCode } from './rules/dynamic-code.ts'
import { findExfiltration } from './rules/exfiltration.ts'
import { findHiddenCalls } from './rules/hidden-call.ts'
import { findSecretsInSource } from './rules/live-secret.ts'
import { findRemoteCode, findUnsafeLoads } from './rules/loading.ts'
import { findMiners } from './rules/miner.ts'
import { findMinified } from './rules/minified.ts'
import { findProcesses } from './rules/process.ts'
import type { SourceFile } from './source/source-file.ts'

/** What every rule finds in one Python file; not complete when a rule failed or the file costs too much to judge. */
export const scanFile = (
  file: SourceFile,
  binaries: readonly Binary[],
): { hits: Hit[]; complete: boolean } => {
  const { hits, complete } = collectHits(FILE_RULES.map((find) => () => find(file, binaries)))
  return { hits, complete: complete && file.effort.steps > 0 }
}

const findBroken = ({ path, module }: SourceFile): Hit[] =>
  module.broken.map(({ line }) => ({
    rule: 'not-scanned',
    path,
    line,
    detail: 'a statement is not valid Python',
  }))

const FILE_RULES: readonly ((file: SourceFile, binaries: readonly Binary[]) => Hit[])[] = [
  findDynamicCode,
  findHiddenCalls,
  findCodeObjects,
  findDownloadRuns,
  findCredentialReads,
  findExfiltration,
  findMiners,
  findSecretsInSource,
  findProcesses,
  findUnsafeLoads,
  findRemoteCode,
  findCounted,
  findMinified,
  findUsedBinaries,
  findBroken,
]
