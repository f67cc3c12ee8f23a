import { listVersionsToCleanUp, markVersionCleaned } from '../../src/registry/db/archive.ts'
import { CHECKS_FOLDER } from '../../src/registry/domain/checked-archive.ts'
import { listUnknownPictures } from '../../src/registry/db/picture.ts'
import { listDueRatings, renewRatingMean, showDueRating } from '../../src/registry/db/rating-due.ts'
import { unitOfWork } from '../../src/platform/db/unit-of-work.ts'
import type { CommonDependencies } from '../platform/dependencies.ts'
import type { Purges } from '../platform/purge-expired.ts'
import { removeLeftUploads } from './version.ts'

/** Makes the removals by age of versions, pictures and checks, and shows the ratings that count by now. */
export const makeRegistryPurges = ({ sql, storage }: CommonDependencies): Purges => ({
  records: [
    async () => {
      const due = await listDueRatings(sql)
      for (const rating of due) await unitOfWork({ sql }, (sql) => showDueRating(sql, rating))
      return due.length
    },
  ],
  files: [
    {
      name: 'versions',
      list: () => listVersionsToCleanUp(sql),
      async remove(id) {
        await removeLeftUploads({ sql, storage }, id)
        await markVersionCleaned(sql, id)
      },
    },
  ],
  folders: [
    { name: 'pictures', listUnknown: (ids) => listUnknownPictures(sql, ids) },
    // A check that is older than a day was left by an api that was killed.
    { name: CHECKS_FOLDER, listUnknown: (ids) => Promise.resolve([...ids]) },
  ],
  last: () => renewRatingMean(sql),
})
