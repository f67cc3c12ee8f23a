import { failExtraction, finishExtraction } from '../src/db/registry/extraction.ts'
import type { ExtractStatus } from '../src/domain/registry/version.ts'
import { unitOfWork } from '../src/db/unit-of-work.ts'
import type { CoreDependencies } from './dependencies.ts'

/** State of the extraction of a version. */
export interface ExtractionFinished {
  /** `missing`: its archive has to be read. */
  result: 'settled' | 'missing'
  status: ExtractStatus
  /** For operators. */
  detail: string
}

/** The transitions of a version's extraction. Run twice, the second finds it settled and changes nothing. */
export const makeExtractionTransitions = (deps: CoreDependencies) => ({
  /** Makes the stored reading of the archive that of the version. */
  async finishExtraction(versionId: string): Promise<ExtractionFinished> {
    const settled = await unitOfWork(deps, (sql) => finishExtraction(sql, versionId), {
      at: 'move',
      of: versionId,
    })
    if (!settled) return { result: 'settled', status: 'failed', detail: 'the version is gone' }
    const { result, status, nodeCount } = settled
    return { result, status, detail: `${nodeCount} host nodes` }
  },

  /** Ends an extraction that could not be read in time. Returns its status. */
  async failExtraction(versionId: string, reason: string): Promise<ExtractStatus> {
    return await unitOfWork(deps, (sql) => failExtraction(sql, { versionId, reason }), {
      at: 'move',
      of: versionId,
    })
  },
})
