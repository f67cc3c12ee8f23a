import { Type, type Static } from 'typebox'

import { PlatformSettings, type PlatformConfig } from '../../platform/settings/settings.ts'
import { IdentitySettings, type IdentityConfig } from '../../identity/settings.ts'
import { TaskSettings, type TaskConfig } from '../../tasks/settings.ts'
import { EngineSettings, type EngineConfig } from '../../engines/settings.ts'
import { EventSettings, type EventConfig } from '../../events/settings.ts'
import { RegistrySettings, type RegistryConfig } from '../../registry/settings.ts'

/** Every setting of every process. The page of settings, `.env.example` and the test of docker-compose.yml are made from it. */
export const Env = Type.Object({
  ...PlatformSettings.properties,
  ...IdentitySettings.properties,
  ...TaskSettings.properties,
  ...EngineSettings.properties,
  ...EventSettings.properties,
  ...RegistrySettings.properties,
})
export type Env = Static<typeof Env>

/** Settings whose value is a list of texts. */
export const TEXT_LISTS = [
  'ADMIN_SUBJECTS',
  'CONSOLE_AUTH_ORIGINS',
  'CORS_ORIGINS',
  'TRUST_PROXY',
  'SIGNING_KEYS',
  'SECRETS_KEYS',
  'OUTBOUND_DENY',
  'OUTBOUND_NO_PROXY',
  'ENGINES',
  'COMFYUI_URLS',
  'ENGINES_HTTP',
  'ENGINES_HTTP_TOKENS',
] as const

/** The settings and constants of a process, with lists split and durations in the units their names say. */
export type Config = PlatformConfig &
  IdentityConfig &
  TaskConfig &
  EngineConfig &
  EventConfig &
  RegistryConfig
