import { Type, type Static } from 'typebox'

import { readHeartbeats, type TaskConfig } from '../tasks/settings.ts'
import type { CheckTiming } from './domain/check-timing.ts'
import { RegistryReads } from './domain/registry-reads.ts'

import { optionalText, count, constant } from '../platform/settings/schema.ts'

export const RegistrySettings = Type.Object({
  CONSOLE_INSTALL: optionalText(
    'Command that the console shows to install a pack, with `{node}`, `{version}` and `{url}`.',
  ),
  REGISTRY_READS: RegistryReads,
  REVIEW_MIN_AGE_HOURS: count(
    'Age of an account from which on its reviews of packs count and are shown.',
    0,
    0,
    87_600,
  ),
  PUBLISH_AUTH: Type.Enum(['bearer+token', 'token'], {
    default: 'bearer+token',
    description: 'What publishing needs: with or without a bearer token or API key of a member.',
  }),
  EXTRACTION_TOKEN: Type.Optional(
    Type.String({
      minLength: 16,
      maxLength: 1024,
      pattern: '^[\\x21-\\x7e]+$',
      description:
        'Bearer token of those who report host nodes beside members of the publisher. Without it strangers may report, too, which is a hint.',
      'x-expectation': '16 to 1024 visible ASCII characters',
    }),
  ),
  STARS: Type.Enum(['on', 'off'], {
    default: 'on',
    description:
      'Whether github.com, gitlab.com and codeberg.org are asked for the stars of the repositories of packs, each once a day.',
  }),
  GITHUB_TOKEN: optionalText(
    'A token of github.com without any permission: with it 5,000 repositories an hour can be asked for their stars, without it 60.',
  ),
})

/** Numbers of the registry that an operator has no reason to change. */
export const RegistryConstants = Type.Object({
  /** Largest archive of a version in bytes: half of what all its entries may have unpacked. */
  ARCHIVE_MAX_BYTES: constant(268_435_456, 1),
  /** Longest that a caller waits for the check of an archive, once it has come. */
  ARCHIVE_CHECK_SECONDS: constant(60, 1, 3600),
  /** API that is asked for repositories of github.com that are to be trusted, and the time that a code host has for it. */
  GITHUB_API: Type.String({ default: 'https://api.github.com' }),
  CODE_HOST_MS: constant(4000, 100, 600_000),
  /** To fetch a stranger's icon, and again to make it small. */
  PICTURE_MS: constant(4000, 100, 600_000),
  /** A page waits so long for such a fetch, which goes on: over HTTP/1.1 six slow icons hold up all else that it asks for. */
  PICTURE_WAIT_MS: constant(50, 10, 600_000),
  /** Publishers that one user may create, because a name that is taken stays taken. */
  MAX_PUBLISHERS_PER_USER: constant(20, 1, 1_000_000),
  /** Largest page × page size of searches and of the list of versions: behind it PostgreSQL reads what nobody looks at. */
  SEARCH_MAX_DEPTH: constant(10_000, 100, 10_000_000),
  /** From a publication until the upload of its archive must have begun; a slow upload may go on after that. */
  UPLOAD_EXPIRY_SECONDS: constant(3600, 1, 2_592_000),
})

export type RegistryConfig = Static<typeof RegistrySettings> & Static<typeof RegistryConstants>

/** Reads how a reading of an archive shows that it lives. */
export const readCheckTiming = (config: TaskConfig): Partial<CheckTiming> => ({
  heartbeatSeconds: readHeartbeats(config).heartbeatSeconds,
})
