import { collectHits, type Hit } from './hit.ts'
import { findUsedBinaries, type Binary } from './rules/binaries.ts'
import { findCodeObjects, findDynamicCode } from './rules/dynamic-code.ts'
import { findCounted, findProcesses } from './rules/process.ts'
import { findCredentialReads } from './rules/credential-read.ts'
import { findDownloadRuns } from './rules/download-run.ts'
import { findExfiltration } from './rules/exfiltration.ts'
import { findHiddenCalls } from './rules/hidden-call.ts'
import { findSecretsInSource } from './rules/live-secret.ts'
import { findRemoteCode, findUnsafeLoads } from './rules/loading.ts'
import { findMiners } from './rules/miner.ts'
import { findMinified } from './rules/minified.ts'
import { RULES } from './rule-table.ts'
import { PASSED_STEPS, passedCalls } from './source/passed-calls.ts'
import type { Effort } from './source/scope.ts'
import type { SourceFile } from './source/source-file.ts'

/** Runs every rule on one Python file; not complete when a rule failed or the file costs too much to scan. */
export const scanFile = (
  file: SourceFile,
  binaries: readonly Binary[],
): { hits: Hit[]; complete: boolean } => {
  const own = collectHits(FILE_RULES.map((find) => () => find(file, binaries)))
  const effort = { steps: PASSED_STEPS }
  const passed = collectHits([() => findPassed(file, effort)])
  const complete = own.complete && passed.complete && effort.steps > 0 && file.effort.steps > 0
  return { hits: [...own.hits, ...passed.hits], complete }
}

/** Finds what calls lead to. Only the worst is reported at the call: the rest is reported where it happens. */
const findPassed = (file: SourceFile, effort: Effort): Hit[] => {
  const calls = file.calls.flatMap((site) => passedCalls(site, effort))
  const hits = CALL_RULES.flatMap((find) => find({ ...file, calls }))
  const all = { ...file, calls: [...file.calls, ...calls] }
  return [...hits, ...findDownloadRuns(all)].filter(({ rule }) => RULES[rule].tier === 'high')
}

const findBroken = ({ path, module }: SourceFile): Hit[] =>
  module.broken.map(({ line }) => ({
    rule: 'not-scanned',
    path,
    line,
    detail: 'a statement is not valid Python',
  }))

const CALL_RULES: readonly ((file: SourceFile) => Hit[])[] = [
  findDynamicCode,
  findHiddenCalls,
  findCodeObjects,
  findCredentialReads,
  findExfiltration,
]

const FILE_RULES: readonly ((file: SourceFile, binaries: readonly Binary[]) => Hit[])[] = [
  ...CALL_RULES,
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
