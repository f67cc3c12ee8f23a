import { WorkflowExecutionAlreadyStartedError } from '@temporalio/client'

import type { ReextractedVersion, RescannedVersion } from '../../activities/registry/reinspect.ts'
import type { Sql } from '../platform/db/client.ts'
import { listOlderExtractions, listOlderScans } from '../registry/db/reinspection.ts'
import type { Inspected, InspectedFilter } from '../registry/db/reinspection.ts'
import { startReinspection } from '../registry/temporal/version.ts'
import type { Jobs } from '../platform/temporal/client.ts'
import { counted } from '../platform/domain/counted.ts'

export interface ReinspectDeps {
  sql: Sql
  jobs: Jobs
  taskQueue: string
  /** Prints one line for each version. */
  write(line: string): void
}

/** Which versions are read again; a dry run only names them. */
export interface Reinspection {
  filter: InspectedFilter
  isDry: boolean
}

const AT_ONCE = 4
const SCANNER = 'kiln'

/** Commands that read the archives of many versions again. They can be stopped and repeated; they skip what is done. */
export const makeReinspectCommands = (deps: ReinspectDeps) => ({
  reextract: async ({ filter, isDry }: Reinspection): Promise<string> => {
    const versions = await listOlderExtractions(deps.sql, filter)
    return await runAll(deps, versions, {
      isDry,
      describe: describeReextracted,
      makeStart: (version) => startReinspection('reextract', version, filter.below, deps),
    })
  },
  rescan: async ({ filter, isDry }: Reinspection): Promise<string> => {
    const versions = await listOlderScans(deps.sql, { ...filter, scanner: SCANNER })
    return await runAll(deps, versions, {
      isDry,
      describe: describeRescanned,
      makeStart: (version) => startReinspection('rescan', version, filter.below, deps),
    })
  },
})

interface Run<Result> {
  isDry: boolean
  makeStart(version: Inspected): ReturnType<typeof startReinspection>
  describe(result: Result): string
}

const label = ({ nodeId, version }: Inspected): string => `${nodeId}@${version}`

const runAll = async <Result>(
  deps: ReinspectDeps,
  versions: Inspected[],
  { isDry, makeStart, describe }: Run<Result>,
): Promise<string> => {
  const rest = versions.values()
  let failed = 0
  const work = async (): Promise<void> => {
    for (const version of rest) {
      const outcome = isDry
        ? 'would be read'
        : await runOne<Result>(deps, makeStart(version)).then(describe, (error: unknown) => {
            failed += 1
            return `failed: ${error instanceof Error ? error.message : String(error)}`
          })
      deps.write(`${label(version)}  ${outcome}`)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work))
  return isDry
    ? `${counted(versions.length, 'version')} would be read`
    : `${counted(versions.length - failed, 'version was', 'versions were')} read, ${failed} failed`
}

/** Joins a run that an earlier command has started. */
const runOne = async <Result>(
  { jobs }: ReinspectDeps,
  { workflowType, workflowId, ...options }: ReturnType<typeof startReinspection>,
): Promise<Result> => {
  const { workflow } = jobs.client
  try {
    return (await workflow.execute(workflowType, { workflowId, ...options })) as Result
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error
    return (await workflow.getHandle(workflowId).result()) as Result
  }
}

const describeReextracted = ({
  outcome,
  extractorVersion,
  ...names
}: ReextractedVersion): string => {
  if (outcome === undefined) return 'is gone'
  const { gained = [], lost = [], gainedCount = 0, lostCount = 0 } = names
  return [
    `extractor ${extractorVersion}`,
    ...(outcome === 'kept' ? ['KEPT AS IT WAS, look at it'] : []),
    `gained ${list(gained, gainedCount)}`,
    `lost ${list(lost, lostCount)}`,
  ].join('  ')
}

const list = (names: string[], count: number): string =>
  count === 0 ? '0' : `${count}: ${names.join(', ')}${count > names.length ? ', …' : ''}`

const describeRescanned = ({ scannerVersion, status, counts }: RescannedVersion): string => {
  if (status === undefined) return 'is gone'
  if (!counts) return `scanner ${scannerVersion}  was scanned already`
  const { high, medium, info } = counts
  const isAlarm = high > 0 && status === 'NodeVersionStatusActive'
  return `scanner ${scannerVersion}  high ${high}  medium ${medium}  info ${info}${isAlarm ? '  ACTIVE AND DANGEROUS: look at it' : ''}`
}
