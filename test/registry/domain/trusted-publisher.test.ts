import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import { findMismatches, readProvenance } from '../../../src/registry/domain/trusted-publisher.ts'
import type { TrustProvider } from '../../../src/registry/domain/trusted-publisher.ts'

const GITHUB = 'https://token.actions.githubusercontent.com'

describe('a provenance', () => {
  const SHA = '0123456789abcdef0123456789abcdef01234567'
  const RUN = { repository: 'acme/tools', project_path: 'acme/tools', run_id: '1', job_id: '2' }
  const GITLAB = 'https://gitlab.com'
  const GITLAB_FILE = `${GITLAB}/evil/x/-/raw/main`
  const OWN = 'https://git.example.com'
  const TOOLS_RUN = 'acme/tools/actions/runs/1'
  const CASES: [TrustProvider, string, object, string | undefined][] = [
    ['github', GITHUB, {}, `https://github.com/${TOOLS_RUN}`],
    ['github', `${GITHUB}/enterprise`, {}, `https://github.com/${TOOLS_RUN}`],
    ['github', `${OWN}/_services/token`, {}, `${OWN}/${TOOLS_RUN}`],
    // A file on a known host can say that it is an issuer.
    ['github', 'https://github.com/evil/x/raw/main', {}, undefined],
    ['github', `${GITHUB}.evil.example`, {}, undefined],
    ['gitlab', GITLAB, {}, `${GITLAB}/acme/tools/-/jobs/2`],
    ['gitlab', GITLAB_FILE, {}, `${GITLAB_FILE}/acme/tools/-/jobs/2`],
    ['gitlab', GITLAB, { project_path: '../x' }, undefined],
    ['gitlab', GITLAB, { project_path: 'a/../../b' }, undefined],
    ['gitlab', GITLAB, { project_path: 'a/.b/c..d' }, `${GITLAB}/a/.b/c..d/-/jobs/2`],
    ['gitlab', GITLAB, { project_path: 'a/b?c' }, undefined],
    ['github', GITHUB, { repository: 'acme' }, undefined],
    ['github', GITHUB, { repository: 7 }, undefined],
    ['github', GITHUB, { run_id: '1/../2' }, undefined],
    ['oidc', GITHUB, {}, undefined],
  ]
  for (const [provider, iss, claims, url] of CASES)
    test(`of ${provider} by ${iss} with ${JSON.stringify(claims)} is ${url}`, () => {
      const found = readProvenance(provider, { iss, sha: SHA, ...RUN, ...claims })
      assert.deepEqual([found.issuer, found.run_url], [iss, url])
    })

  test('holds nothing that is no commit or ref', () => {
    const claims = { iss: GITHUB, ...RUN, sha: 'main', ref: 'a\nb' }
    const found = Object.keys(readProvenance('github', claims))
    assert.deepEqual(found, ['issuer', 'repository', 'run_url'])
  })
})

describe('the file of a workflow', () => {
  const file = '.gitlab-ci.yml'
  const trusted = { provider: 'gitlab', claims: { workflow_file: file } } as const
  const host = 'git.example.com:8443'
  const CASES: [string, boolean][] = [
    [`${host}/a/b//${file}@refs/heads/main`, true],
    [`${host}/a/b//${file}@refs/heads/a@b`, true],
    [`${host}/a/b//${file}@refs/x.yml@refs/heads/main`, false],
    [`${host}/a/c//${file}@refs/heads/main`, false],
    [`git.example.com/a/b//${file}@refs/heads/main`, false],
    [`${host}/a/b//x/${file}@refs/heads/main`, false],
    [`${host}/a/b//${file}`, false],
    ['', false],
  ]
  for (const [uri, isTrusted] of CASES)
    test(`is ${isTrusted ? '' : 'not '}that of ${uri}`, () => {
      const claims = { iss: `https://${host}`, project_path: 'a/b', ci_config_ref_uri: uri }
      assert.equal(findMismatches(trusted, claims).length === 0, isTrusted)
    })

  test('is none in a token that does not say it', () =>
    assert.deepEqual(findMismatches(trusted, {}), ['workflow_file']))
})
