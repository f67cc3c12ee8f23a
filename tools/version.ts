/**
 * The version stands in package.json. What else repeats it is written by `npm run docs`; a build of what is no release
 * yet (`-dev`) adds its commit, so that two builds never have one name.
 */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ROOT } from '../src/local/root.ts'

/** PEP 440: `0.3.0-dev+abc` is `0.3.0.dev0+abc`. */
export const toPython = (version: string): string => version.replace('-dev', '.dev0')

/** Tags of images, and what Kubernetes labels with them, hold no `+`. */
export const toTag = (version: string): string => version.replace('+', '-')

interface Place {
  path: string
  pattern: RegExp
  /** Form of the version there; as it is when absent. */
  form?: (version: string) => string
}

/** Files that repeat the version. */
const PLACES: Place[] = [
  ...['client', 'console', 'engines', 'inspector'].map((name) => ({
    path: `packages/${name}/package.json`,
    pattern: /(?<=^ {2}"version": ")[^"]+/gm,
  })),
  ...['python', 'engine-python'].map((name) => ({
    path: `packages/${name}/pyproject.toml`,
    pattern: /(?<=^version = ")[^"]+/gm,
    form: toPython,
  })),
  { path: 'deploy/helm/kiln/Chart.yaml', pattern: /(?<=^(?:version|appVersion): ).+/gm },
  { path: 'docker-compose.yml', pattern: /(?<=image: kiln:)[^$\s]+/g },
  { path: 'src/platform/domain/release.ts', pattern: /(?<=VERSION = ')[^']+/g },
  {
    path: 'package-lock.json',
    pattern: /(?<="name": "kiln(?:-\w+)?",\n\s+"version": ")[^"]+/g,
  },
]

/** Reads the version of the checkout. */
export const readVersion = async (): Promise<string> => {
  const { version } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8')) as {
    version: string
  }
  return version
}

/** Makes the texts of all files that repeat the version. */
export const repeatVersion = async (): Promise<Record<string, string>> => {
  const version = await readVersion()
  return Object.fromEntries(
    await Promise.all(
      PLACES.map(async ({ path, pattern, form = String }) => {
        const text = await readFile(join(ROOT, path), 'utf8')
        return [path, text.replaceAll(pattern, form(version))] as const
      }),
    ),
  )
}

/**
 * Names a build of a version: the commit of one that is no release is KILN_COMMIT, or that of git. Without either, as in an
 * archive, nothing is added.
 */
export const nameBuild = (version: string, commit = findCommit()): string =>
  version.endsWith('-dev') && commit !== '' ? `${version}+${commit}` : version

const findCommit = (): string => {
  if (process.env['KILN_COMMIT']) return process.env['KILN_COMMIT']
  if (!existsSync(join(ROOT, '.git'))) return ''
  const asked = ['describe', '--always', '--dirty', '--abbrev=12', '--exclude=*']
  return spawnSync('git', asked, { cwd: ROOT, encoding: 'utf8' }).stdout.trim()
}
