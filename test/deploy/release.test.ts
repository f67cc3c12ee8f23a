import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { parse } from 'yaml'

import { ROOT } from '../../src/local/root.ts'
import { nameBuild, toPython, toTag } from '../../tools/version.ts'

interface Step {
  uses?: string
  run?: string
  with?: Record<string, unknown>
  env?: Record<string, string>
}

interface Job {
  needs?: string | string[]
  environment?: string
  permissions?: Record<string, string>
  /** Absent of one that runs another workflow. */
  steps?: Step[]
  uses?: string
  strategy?: { matrix: Record<string, string[]> }
}

const read = (path: string): Promise<string> => readFile(join(ROOT, path), 'utf8')

const text = await read('.github/workflows/release.yml')
const { on, permissions, jobs } = parse(text) as {
  on: object
  permissions: object
  jobs: Record<string, Job>
}
const ci = parse(await read('.github/workflows/ci.yml')) as {
  on: object
  jobs: Record<string, Job>
}
const steps = [...Object.values(jobs), ...Object.values(ci.jobs)].flatMap((job) => job.steps ?? [])
const { version, scripts, engines } = JSON.parse(await read('package.json')) as {
  version: string
  engines: Record<string, string>
  scripts: Record<string, string>
}

/** All jobs that a job waits for. */
const listNeeds = (name: string): string[] =>
  [jobs[name]?.needs ?? []].flat().flatMap((need) => [need, ...listNeeds(need)])

const doesPublish = ({ steps = [] }: Job): boolean =>
  /npm publish|pypi-publish|build-push-action|gh release/.test(JSON.stringify(steps))

describe('the workflow of each change', () => {
  test('tests a push, a pull request and a release on each Node that is supported', () => {
    assert.deepEqual(Object.keys(ci.on), ['push', 'pull_request', 'workflow_call'])
    const job = ci.jobs['test']
    assert.ok(job?.steps?.some(({ run }) => run === 'bash .ci/run'))
    const [oldest = ''] = (engines['node'] ?? '').match(/\d+\.\d+/) ?? []
    assert.deepEqual(job?.strategy?.matrix['node'], [oldest, '24'])
  })
})

describe('the workflow of a release', () => {
  test('publishes a tag, and only what all tests have passed for', () => {
    assert.deepEqual(on, { push: { tags: ['v*'] } })
    const publishing = Object.entries(jobs).flatMap(([name, job]) => (doesPublish(job) ? name : []))
    assert.deepEqual(publishing, ['npm', 'python', 'image', 'release'])
    for (const name of publishing) assert.ok(listNeeds(name).includes('test'), name)
    assert.equal(jobs['test']?.uses, './.github/workflows/ci.yml')
  })

  test('has no stored secret, and no right that a job does not use', () => {
    assert.deepEqual(permissions, {})
    assert.doesNotMatch(text, /\bsecrets\./)
    for (const [name, job] of Object.entries(jobs)) {
      const signs = /attest-|--provenance|pypi-publish/.test(JSON.stringify(job.steps))
      assert.equal(job.permissions?.['id-token'], signs ? 'write' : undefined, name)
      // Whoever may release is decided by the reviewers of an environment.
      if (signs && doesPublish(job)) assert.equal(job.environment, name)
    }
  })

  test('names scripts, files and outputs that are there', () => {
    const runs = steps.map(({ run = '' }) => run).join('\n')
    for (const [, name = ''] of runs.matchAll(/npm run ([\w:]+)/g)) assert.ok(scripts[name], name)
    const options = steps.flatMap((step) => Object.entries(step.with ?? {}))
    const files = options.flatMap(([name, value]) =>
      /file$|path$/.test(name) ? String(value) : [],
    )
    const named = [...files, ...(runs.match(/\.ci\/run|CHANGELOG\.md|package\.json/g) ?? [])]
    for (const path of named.flatMap((paths) => paths.trim().split('\n')))
      if (!path.startsWith('dist')) assert.ok(existsSync(join(ROOT, path)), path)
    for (const { uses } of steps.filter((step) => step.uses !== undefined))
      assert.match(uses ?? '', /^[\w-]+\/[\w-]+@(v\d+|release\/v1)$/)
    for (const [, job = '', step] of text.matchAll(/\b(steps)\.(\w+)\.outputs/g))
      assert.match(text, new RegExp(`id: ${step}\\n`), job)
  })

  test('hands on the files that the build makes, under the names that it uploads', () => {
    const uploaded = steps.filter(({ uses }) => uses?.includes('upload-artifact'))
    const fetched = steps.filter(({ uses }) => uses?.includes('download-artifact'))
    const names = uploaded.map((step) => step.with?.['name'])
    assert.deepEqual(
      fetched.flatMap((step) => step.with?.['name'] ?? []),
      names,
    )
    const globs = uploaded.flatMap((step) => String(step.with?.['path']).trim().split('\n'))
    assert.deepEqual(globs, ['dist/*.tgz', 'dist/*.whl', 'dist/*.tar.gz'])
  })

  test('takes its part of the changelog', () => {
    const { run = '' } = jobs['release']?.steps?.at(-1) ?? {}
    const [command = ''] = /^sed .*(?= > notes\.md$)/m.exec(run) ?? []
    const script = `version=0.1.0; ${command.replace('CHANGELOG.md', '-')}`
    const input = '# Changelog\n## [0.2.0] - x\nnew\n## [0.1.0] - x\nold\n## [0.0.1]\nfirst\n'
    assert.equal(execFileSync('bash', ['-c', script], { input, encoding: 'utf8' }), 'old\n')
  })

  test('finds one version in all packages', async () => {
    for (const name of ['client', 'engines', 'inspector']) {
      const manifest = JSON.parse(await read(`packages/${name}/package.json`)) as object
      assert.deepEqual({ ...manifest, version }, manifest, name)
    }
    for (const name of ['python', 'engine-python'])
      assert.ok(
        (await read(`packages/${name}/pyproject.toml`)).includes(
          `\nversion = "${toPython(version)}"\n`,
        ),
      )
  })

  test('is never one of development', () => {
    const { run = '' } = jobs['tag']?.steps?.at(-1) ?? {}
    const ends = (tag: string) => {
      const folder = mkdtempSync(join(tmpdir(), 'kiln-tag-'))
      writeFileSync(join(folder, 'package.json'), JSON.stringify({ version: tag.slice(1) }))
      const env = { ...process.env, GITHUB_REF_NAME: tag }
      const { status } = spawnSync('bash', ['-ec', run], { cwd: folder, env })
      rmSync(folder, { recursive: true })
      return status
    }
    assert.deepEqual(['v0.3.0', 'v0.3.0-dev'].map(ends), [0, 1])
  })

  test('names a build of what is no release by its commit, as each kind of package takes it', () => {
    const name = nameBuild('0.3.0-dev', 'abc123')
    assert.deepEqual(
      [name, toPython(name), toTag(name)],
      ['0.3.0-dev+abc123', '0.3.0.dev0+abc123', '0.3.0-dev-abc123'],
    )
    assert.deepEqual(
      [nameBuild('0.3.0', 'abc123'), nameBuild('0.3.0-dev', '')],
      ['0.3.0', '0.3.0-dev'],
    )
    if (existsSync(join(ROOT, '.git')))
      assert.match(nameBuild('0.3.0-dev'), /^0\.3\.0-dev\+[\da-f]{12}/)
  })

  test('names no registry by its host', () => {
    assert.doesNotMatch(text, /\b(ghcr|docker|npmjs|pypi)\.(io|org|com)\b/)
  })
})
