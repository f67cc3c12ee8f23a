import { createInspectActivities } from '../../activities/registry/index.ts'
import { makeLicenseFinder } from '../../activities/registry/read-license.ts'
import type { WorkerBase } from '../platform/worker.ts'
import { makeLocalInspector } from './inspector/local.ts'
import type { RegistryConfig } from './settings.ts'
import { STARS_HOSTS, makeFetchStars } from './stars/stars.ts'

/** Makes the dependencies of the stars of repositories; undefined where nobody is asked. */
export const makeStars = ({ outbound }: WorkerBase, config: RegistryConfig) =>
  config.STARS === 'on'
    ? {
        hosts: STARS_HOSTS.map(({ host }) => host),
        fetch: makeFetchStars({ outbound, githubToken: config.GITHUB_TOKEN || undefined }),
      }
    : undefined

type InspectorPlace = Parameters<typeof makeLocalInspector>[0]

/** Makes the activities of a media worker that read archives, in the folder of its process. */
export const makeInspection = ({ common }: WorkerBase, place: InspectorPlace) => {
  const inspector = makeLocalInspector(place)
  const deps = {
    ...common,
    scratchDir: place.dir,
    inspector,
    findLicenseId: makeLicenseFinder(),
  }
  return {
    activities: createInspectActivities(deps),
    close: () => inspector.close(),
  }
}
