import { Constants } from './constants.ts'
import type { Config } from './env.ts'

/** Settings of earlier releases that became no constant which a log may show. */
const REMOVED: Record<string, (config: Config) => string> = {
  ADDRESS_TASK_LIMIT: () => 'a tenth of OWNER_TASK_LIMIT holds',
  ADDRESS_BYTE_LIMIT: () => 'a tenth of OWNER_BYTE_LIMIT holds',
  ANONYMOUS_SLOTS: () => 'four times VIDEO_CONCURRENCY_PER_OWNER holds',
  FFPROBE_PATH: () => 'the ffprobe beside FFMPEG_PATH is used',
  DELIVERY_RUNS: () => 'every core worker makes first attempts',
  DEVELOPMENT_ISSUER_KEY: () => 'the embedded stack alone has one',
  OIDC_AUDIENCE: () => 'the host of PUBLIC_URL holds',
  VENDOR_IMAGE_RATE: (config) => `it is fixed at ${config.VENDOR_RATE}`,
  VENDOR_VIDEO_RATE: (config) => `it is fixed at ${config.VENDOR_RATE}`,
  VENDOR_IMAGE_CONCURRENCY: (config) => `it is fixed at ${config.VENDOR_CONCURRENCY}`,
  VENDOR_VIDEO_CONCURRENCY: (config) => `it is fixed at ${config.VENDOR_CONCURRENCY}`,
}

/** The runner of the tests hands its bundle on in a variable of this name. */
const IGNORED = 'WORKFLOW_BUNDLE'

/** Lists the variables that were settings once and are still set, each with what holds in its place. */
export const listRemovedSettings = (given: NodeJS.ProcessEnv, config: Config): string[] => {
  const constants = Object.keys(Constants.properties) as (keyof Constants)[]
  const reasons = {
    ...Object.fromEntries(
      constants.map((name) => [name, () => `it is fixed at ${String(config[name])}`]),
    ),
    ...REMOVED,
  }
  return Object.entries(reasons)
    .filter(([name]) => given[name] && name !== IGNORED)
    .map(([name, describe]) => `${name} is not a setting any more: ${describe(config)}`)
}
