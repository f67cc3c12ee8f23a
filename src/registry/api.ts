import { makeIssuerKeys } from '../identity/adapters/issuer-keys.ts'
import type { IdentityConfig } from '../identity/settings.ts'
import type { ApiBase } from '../platform/api.ts'
import type { TaskConfig } from '../tasks/settings.ts'
import { makeCountCache } from './db/search/listed-count.ts'
import { makeFetchPicture, makeReducePicture } from './picture/fetch-picture.ts'
import { readCheckTiming, type RegistryConfig } from './settings.ts'
import { makeCheckTrust } from './trust/check-trust.ts'

/** Makes what routes of the registry take. */
export const makeRegistryApi = (
  base: ApiBase,
  config: RegistryConfig & TaskConfig & IdentityConfig,
) => {
  const { commit, live, lists, signer, outbound, now, log, storage, publicUrl, taskQueue } = base
  const check = { ...commit, publicUrl, taskQueue, checkTiming: readCheckTiming(config) }
  const limit = { keyMaxDays: config.KEY_MAX_DAYS, now }
  const token = { ...commit, ...limit, log, publishAuth: config.PUBLISH_AUTH }
  const readers = { registryReads: config.REGISTRY_READS }
  const pictures = { dir: base.received.scratchDir, maxMs: config.PICTURE_MS }
  const reducePicture = makeReducePicture(pictures)
  return {
    routes: {
      registry: {
        ...check,
        ...token,
        ...lists,
        ...live,
        ...readers,
        signer,
        cache: makeCountCache(),
        searchMaxDepth: config.SEARCH_MAX_DEPTH,
        outbound,
        extractionToken: config.EXTRACTION_TOKEN,
        maxPublishersPerUser: config.MAX_PUBLISHERS_PER_USER,
        reviewMinAgeHours: config.REVIEW_MIN_AGE_HOURS,
      },
      publish: {
        ...check,
        ...token,
        signer,
        outbound,
        archiveMaxBytes: config.ARCHIVE_MAX_BYTES,
        uploadExpirySeconds: config.UPLOAD_EXPIRY_SECONDS,
      },
      check: {
        ...base.received,
        ...check,
        ...readers,
        archiveCheckSeconds: config.ARCHIVE_CHECK_SECONDS,
        archiveMaxBytes: config.ARCHIVE_MAX_BYTES,
        outbound,
        publishAuth: config.PUBLISH_AUTH,
        storage,
      },
      trust: {
        ...commit,
        issuerKeys: makeIssuerKeys(outbound, log),
        oidcAudience: new URL(publicUrl).host,
        signer,
        outbound,
        checkTrust: makeCheckTrust({
          outbound,
          githubApi: config.GITHUB_API,
          maxMs: config.CODE_HOST_MS,
        }),
        now,
      },
      picture: {
        ...commit,
        ...base.received,
        ...readers,
        publicUrl,
        storage,
        outbound,
        reducePicture,
        fetchPicture: makeFetchPicture({ ...pictures, outbound, reducePicture }),
        pictureWaitMs: config.PICTURE_WAIT_MS,
      },
    },
  }
}
