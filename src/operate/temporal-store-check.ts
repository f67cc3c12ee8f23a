import type { Config } from '../compose/settings/env.ts'
import { throwAdvised } from '../platform/process/postgres-advice.ts'
import { readTemporalStore } from '../platform/temporal/store-size.ts'
import type { Check } from './doctor.ts'

const toGib = (bytes: number): string => `${(bytes / 2 ** 30).toFixed(2)} GiB`

/** The check of the size of Temporal's databases, where they are named. */
export const makeTemporalStoreChecks = ({
  TEMPORAL_DATABASE_URL: url,
  DOCTOR_CHECK_MS,
}: Config): Check[] => {
  const checkSize = async (): Promise<string> => {
    const sizes = await readTemporalStore(url, DOCTOR_CHECK_MS / 2).catch(
      throwAdvised('TEMPORAL_DATABASE_URL'),
    )
    const shown = sizes.map(
      ({ database, tables, indexes, largest, largest_bytes: bytes }) =>
        `${database} has tables of ${toGib(tables)} and indexes of ${toGib(indexes)}, most of it ${largest} with ${toGib(bytes)}`,
    )
    return shown.join('; ')
  }
  const needs = ['TEMPORAL_DATABASE_URL'] as const
  return url === '' ? [] : [['temporal store', needs, 'correct TEMPORAL_DATABASE_URL', checkSize]]
}
