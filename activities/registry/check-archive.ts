import { adviseOn } from '../../packages/inspector/src/advice.ts'
import type { ScannedFinding } from '../../packages/inspector/src/inspection.ts'
import { findProjectText } from '../../packages/inspector/src/pack.ts'
import type { StoredArchive } from '../../src/registry/db/archive.ts'
import { checkFolder, CHECK_RESULT } from '../../src/registry/domain/checked-archive.ts'
import type { ReadArchive, ReadProject } from '../../src/registry/domain/checked-archive.ts'
import { VERSION_TRANSITIONS } from '../../src/registry/domain/version-transition.ts'
import { decideVersion } from '../../src/registry/domain/version-verdict.ts'
import { failpoint } from '../../src/platform/process/failpoint.ts'
import { inspectStored, runCheck } from './archive-check.ts'
import type { InspectDependencies } from './dependencies.ts'
import { readProjectText, type InspectedWithLicense } from './read-license.ts'

/** An archive in the store that is checked before anything is published. */
export interface ArchiveToCheck {
  checkId: string
  archive: StoredArchive
  /** Absent: the one that the archive names. */
  nodeId?: string | undefined
}

export interface CheckActivities {
  checkArchive: ReturnType<typeof makeCheckArchive>
}

/**
 * Makes the activity that reads an archive as `inspectArchive` does, and leaves what it finds beside it. The api that waits
 * removes both. Histories, which stay, have numbers alone.
 */
export const makeCheckArchive =
  (deps: InspectDependencies) =>
  async ({ checkId, archive, nodeId }: ArchiveToCheck, attempts: number): Promise<object> =>
    await runCheck(deps, { of: { check_id: checkId }, attempts }, (signal) =>
      inspectStored(
        deps,
        { archive, nodeId, dependencies: [], license: null },
        signal,
        async (found, path) => {
          failpoint('inspect.before-results')
          const read = describe(archive, found, await readProject(found, path))
          const file = Buffer.from(JSON.stringify(read))
          await deps.storage.putFiles(checkFolder(checkId), { [CHECK_RESULT]: file })
          return { verdict: read.archive.verdict, ...read.counts, nodes: read.host_nodes.length }
        },
      ),
    )

const describe = (
  { sha256, bytes }: StoredArchive,
  { archive, nodes, findings, licenseId }: InspectedWithLicense,
  project: ReadProject,
): ReadArchive => {
  const isSound = archive.verdict === 'sound'
  const { complete, counts } = findings
  const verdict = decideVersion({
    archiveState: isSound ? 'accepted' : 'rejected',
    archiveCode: isSound ? null : archive.code,
    scan: { complete, counts, worst: findings.findings.find(isHigh) ?? null },
  })
  const { status, reason, partial, reasons } = nodes
  return {
    ...(verdict?.name === 'flag'
      ? { status: VERSION_TRANSITIONS.flag.to, status_reason: verdict.reason }
      : { status: VERSION_TRANSITIONS.pass.to, status_reason: VERSION_TRANSITIONS.pass.reason }),
    archive: isSound
      ? { verdict: 'sound', sha256, bytes, files: archive.files?.length ?? archive.entries }
      : {
          verdict: 'rejected',
          code: archive.code,
          message: archive.message,
          sha256,
          bytes,
          files: 0,
        },
    project,
    ...(licenseId !== undefined && { license_id: licenseId }),
    counts,
    scanned: complete,
    findings: findings.findings.map(showFinding),
    extraction: { status, ...(reason !== undefined && { reason }), partial, reasons },
    host_nodes: nodes.nodes.map(({ name, display_name: shown, category, dynamic }) => ({
      name,
      ...(shown !== undefined && { display_name: shown }),
      category,
      dynamic,
    })),
    warnings: adviseOn(nodes),
  }
}

const isHigh = ({ severity }: ScannedFinding): boolean => severity === 'high'

const showFinding = ({
  file_path: path,
  line_number: line,
  code_snippet: code,
  ...finding
}: ScannedFinding) => ({
  ...finding,
  ...(path !== undefined && { file_path: path }),
  ...(line !== undefined && { line_number: line }),
  ...(code !== undefined && { code_snippet: code }),
})

/** Members of what is read, by their names in pyproject.toml. */
const MEMBERS = {
  node_id: 'name',
  version: 'version',
  publisher_id: 'PublisherId',
  name: 'DisplayName',
  icon: 'Icon',
  banner_url: 'Banner',
} as const

const readProject = async (
  { archive }: InspectedWithLicense,
  path: string,
): Promise<ReadProject> => {
  const files = archive.verdict === 'sound' ? (archive.files ?? []) : []
  const toml = Buffer.from(await readProjectText(path, files))
  return Object.fromEntries(
    Object.entries(MEMBERS).flatMap(([member, name]) => {
      const text = findProjectText(toml, name)
      return text === undefined || text === '' ? [] : [[member, text]]
    }),
  )
}
