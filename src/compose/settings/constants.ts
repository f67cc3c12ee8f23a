import { Type, type Static } from 'typebox'

import { PlatformConstants } from '../../platform/settings/settings.ts'
import { IdentityConstants } from '../../identity/settings.ts'
import { TaskConstants } from '../../tasks/settings.ts'
import { EngineConstants } from '../../engines/settings.ts'
import { EventConstants } from '../../events/settings.ts'
import { RegistryConstants } from '../../registry/settings.ts'

/**
 * Numbers that an operator has no reason to change. Outside production OVERRIDE_<name> in the environment of a process
 * replaces one, for tests that cannot wait and for the embedded stack.
 */
export const Constants = Type.Object({
  ...PlatformConstants.properties,
  ...IdentityConstants.properties,
  ...TaskConstants.properties,
  ...EngineConstants.properties,
  ...EventConstants.properties,
  ...RegistryConstants.properties,
})
export type Constants = Static<typeof Constants>

/** Prefix of the variables that replace constants. */
export const OVERRIDE = 'OVERRIDE_'

/** The schema of the variables that replace constants. */
export const Overrides = Type.Object(
  Object.fromEntries(
    Object.entries(Constants.properties).map(([name, rule]) => [OVERRIDE + name, rule]),
  ),
)
