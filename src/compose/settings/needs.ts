import { UPSTREAM_FAMILIES, type UpstreamFamily } from '../../engines/settings.ts'
import type { SettingIssue } from '../../platform/settings/issue.ts'
import { splitList } from '../../platform/settings/schema.ts'
import { hasBucket } from '../../platform/storage/settings.ts'
import type { Env } from './env.ts'

/** A setting that is given, false where it is not, and the one without which it has no effect, with its value where one alone will do. */
type Need = readonly [by: string | false, needed: keyof Env, value?: string]

/** Lists what settings of every process need. */
export const listNeeds = (env: Env): Need[] => [
  [hasBucket(env) && `STORAGE${env.STORAGE === 's3' ? '' : '_ALSO'}=s3`, 'S3_BUCKET'],
  [hasBucket(env) && given(env, 'S3_ACCESS_KEY_ID'), 'S3_SECRET_ACCESS_KEY'],
  [hasBucket(env) && given(env, 'S3_SECRET_ACCESS_KEY'), 'S3_ACCESS_KEY_ID'],
  [given(env, 'S3_PUBLIC_ENDPOINT'), 'S3_REDIRECT', 'on'],
  [given(env, 'OUTBOUND_NO_PROXY'), 'OUTBOUND_PROXY'],
  [env.OUTBOUND_PROXY_RESOLVES && 'OUTBOUND_PROXY_RESOLVES', 'OUTBOUND_PROXY'],
]

/** Lists what settings of core workers need, which alone call engines and are given their keys. */
export const listEngineNeeds = (env: Env): Need[] => [
  ...(['image', 'video'] as const).flatMap((family): Need[] => {
    const { setting } = UPSTREAM_FAMILIES[family]
    const [url, key] = [`${setting}_URL`, `${setting}_KEY`] as const
    const [fleet, upstream] = [choice(env, family, 'comfyui'), choice(env, family, 'vendor')]
    return [
      [fleet, 'COMFYUI_URLS'],
      [fleet, 'COMFYUI_TEMPLATES'],
      [upstream, url],
      [upstream, key],
      [given(env, url), key],
      [given(env, key), url],
    ]
  }),
  [given(env, 'COMFYUI_URLS'), 'COMFYUI_TEMPLATES'],
  [given(env, 'COMFYUI_TEMPLATES'), 'COMFYUI_URLS'],
  [given(env, 'COMFYUI_TOKEN'), 'COMFYUI_URLS'],
  [given(env, 'ENGINES_HTTP_TOKENS'), 'ENGINES_HTTP'],
]

const given = (env: Env, name: keyof Env): string | false => (env[name] ?? '') !== '' && name

/** Finds the setting that has an engine render kinds of a family. */
const choice = (env: Env, family: UpstreamFamily, engine: string): string | false => {
  const { engine: setting } = UPSTREAM_FAMILIES[family]
  if (env[setting] === engine) return `${setting}=${engine}`
  const kinds: readonly string[] = UPSTREAM_FAMILIES[family].kinds
  const isChosen = splitList(env.ENGINES).some((item) => {
    const [kind = '', name] = item.split(':')
    return name === engine && kinds.includes(kind)
  })
  return isChosen && 'ENGINES'
}

/** Finds the settings that others need and that are not there, each once. */
export const findAbsent = (env: Env, needs: readonly Need[]): SettingIssue[] => {
  const issues = needs.flatMap(([by, needed, value]): SettingIssue[] => {
    const isThere = value === undefined ? (env[needed] ?? '') !== '' : env[needed] === value
    if (by === false || isThere) return []
    const state = value === undefined ? 'is absent' : `is not ${value}`
    const message = `${needed} ${state}, and ${by} needs it: set both, or neither`
    return [{ name: needed, by: by.replace(/=.*/, ''), message }]
  })
  return issues.filter(
    ({ name }, index) => issues.findIndex((issue) => issue.name === name) === index,
  )
}
