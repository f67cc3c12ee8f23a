import assert from 'node:assert/strict'
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { promisify } from 'node:util'

import { parse } from 'yaml'

import { acceptArchive } from '../../../src/registry/db/archive.ts'
import { ROOT } from '../../../src/local/root.ts'
import { JOB } from '../../support/identity-issuer.ts'
import { PATIENCE_MS } from '../../support/patience.ts'
import { waitFor } from '../../support/wait.ts'
import { columnsOf, listOf, memberOf } from '../../support/client.ts'
import { useRegistry } from './registry-support.ts'
import { CLAIMS, useTrusting, type Trusting } from './trusted-publishing-support.ts'

const registry = useRegistry()
const { anonymous, sql, place, service } = registry
const { ci, addNode, addTrusting } = useTrusting(registry)

/** Tools of the shell steps that are absent; the machines of a CI have them. */
const MISSING = ['bash', 'curl', 'jq', 'zip'].filter(
  (tool) => spawnSync(tool, ['--version'], { stdio: 'ignore' }).error,
)

interface Files {
  'github-publish.yml': {
    jobs: { publish: { environment: string; permissions: object; steps: { run?: string }[] } }
  }
  'gitlab-publish.yml': { publish: { environment: string; script: string[] } }
}

const readFileOf = async <Name extends keyof Files>(name: Name): Promise<Files[Name]> =>
  parse(await readFile(join(ROOT, 'samples/ci', name), 'utf8')) as Files[Name]

interface Ended {
  code: number
  stdout: string
  stderr: string
}

/** Runs the steps of a job in a project of its own. */
const runSteps = async (steps: string[], env: NodeJS.ProcessEnv): Promise<Ended> => {
  const project = await mkdtemp(join(tmpdir(), 'kiln-project-'))
  const temp = await mkdtemp(join(tmpdir(), 'kiln-job-'))
  await writeFile(join(project, '__init__.py'), 'NODE_CLASS_MAPPINGS = {}\n')
  const all = { PATH: process.env['PATH'], TMPDIR: temp, RUNNER_TEMP: temp, ...env }
  try {
    const options = { cwd: project, env: all, timeout: PATIENCE_MS }
    const ended = await promisify(execFile)('bash', ['-ec', steps.join('\n')], options)
    return { code: 0, ...ended }
  } catch (error) {
    return error as Ended
  } finally {
    await Promise.all([project, temp].map((folder) => rm(folder, { recursive: true })))
  }
}

const placeOf = ({ owned, nodeId }: Pick<Trusting, 'owned' | 'nodeId'>) => ({
  KILN_URL: service.baseUrl,
  PUBLISHER: owned.id,
  NODE: nodeId,
})

/** Runs the job of GitHub, which gives it an identity token for what it set at its start. */
const runGithub = async (node: Trusting): Promise<Ended> => {
  const { jobs } = await readFileOf('github-publish.yml')
  const { steps, permissions } = jobs.publish
  assert.deepEqual(permissions, { contents: 'read', 'id-token': 'write' })
  const identity = await ci.sign()
  const asked = `/ask?version=2&audience=${encodeURIComponent(ci.audience)}`
  ci.server.script(asked, ({ request, response }) => {
    const isRight = request.headers.authorization === 'Bearer of-the-job'
    response.writeHead(isRight ? 200 : 401).end(JSON.stringify({ value: identity }))
  })
  return await runSteps(
    steps.map(({ run = '' }) => run),
    {
      ...placeOf(node),
      GITHUB_REF_NAME: 'v1.2.0',
      GITHUB_SERVER_URL: 'https://github.example',
      GITHUB_REPOSITORY: JOB.repository,
      ACTIONS_ID_TOKEN_REQUEST_URL: ci.server.url('/ask?version=2'),
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
    },
  )
}

/** GitLab gives it in a variable. */
const runGitlab = async (node: Trusting): Promise<Ended> => {
  const { publish } = await readFileOf('gitlab-publish.yml')
  return await runSteps(publish.script, {
    ...placeOf(node),
    KILN_IDENTITY: await ci.sign(),
    CI_COMMIT_TAG: 'v1.2.0',
    CI_PROJECT_URL: 'https://gitlab.example/group/project',
  })
}

/** Decides on the version of a node in place of the workers, once its archive is there. */
const decide = async ({ nodeId }: Trusting, how: 'pass' | 'flag'): Promise<void> => {
  const { id, sha256 } = await waitFor('an archive', async () => {
    const [row] = await sql<{ id: string; sha256: string }[]>`
      select v.id, a.sha256 from version v join archive a on a.version_id = v.id
      where v.node_id = ${nodeId} and v.archive_state = 'received'
    `
    return row
  })
  await sql.begin((sql) => acceptArchive(sql, { versionId: id, sha256, storageKey: id }))
  await sql`update version set host_node_extract_status = 'success' where id = ${id}`
  assert.ok(await place.transition(id, how, 'decided by the test'))
  await sql`select pg_notify('kiln_changes', ${id})`
}

const skip = MISSING.length > 0 && `no ${MISSING.join(', ')}`

describe('the workflow files of the documentation', { skip }, () => {
  const RUNS = { 'GitHub Actions': runGithub, 'GitLab CI/CD': runGitlab }
  for (const [name, run] of Object.entries(RUNS)) {
    test(`publish from ${name}`, async () => {
      const node = await addTrusting()
      const [{ code, stdout, stderr }] = await Promise.all([run(node), decide(node, 'pass')])
      assert.equal(code, 0, stderr)
      assert.match(stdout, /"status": "NodeVersionStatusActive"/)
      const response = await anonymous.get(`/nodes/${node.nodeId}/versions/1.2.0`)
      assert.equal(memberOf(response, 'provenance')['commit'], JOB.sha)
    })

    test(`fail from ${name} with the findings of a version that is flagged`, async () => {
      const node = await addTrusting()
      const [{ code, stdout, stderr }] = await Promise.all([run(node), decide(node, 'flag')])
      assert.equal(code, 1, stderr)
      assert.match(stdout, /"status_reason": "decided by the test"[^]*\[\]\n$/)
    })

    test(`fail from ${name} with the reason when the pack does not trust it`, async () => {
      const node = await addTrusting({ claims: { ...CLAIMS, repository_id: '1' } })
      const { code, stderr } = await run(node)
      assert.notEqual(code, 0)
      assert.match(stderr, /no trusted publisher of the pack is like it: its repository_id is "42/)
    })
  }

  test('mask what a job of GitHub Actions must not print', async () => {
    const node = await addTrusting()
    const [{ stdout }] = await Promise.all([runGithub(node), decide(node, 'pass')])
    assert.match(stdout, /^::add-mask::ey\S+\n::add-mask::kiln_pat_\w+\n\{/)
  })

  test('begin with the commands of their page', async () => {
    const { owned, nodeId, path } = await addNode()
    const page = await readFile(join(ROOT, 'docs/guides/publishing.md'), 'utf8')
    const commands = [...page.matchAll(/```bash\n([^]*?)```/g)].map(([, command = '']) => command)
    const env = { ...placeOf({ owned, nodeId }), KILN_TOKEN: await service.token(owned.user) }
    const { code, stdout, stderr } = await runSteps(commands, env)
    assert.equal(code, 0, stdout + stderr)
    const listed = listOf(await owned.owner.get(`${path}/trusted-publishers`))
    assert.deepEqual(columnsOf(listed, 'provider', 'issuer'), [
      ['github', 'https://token.actions.githubusercontent.com'],
      ['gitlab', 'https://gitlab.com'],
    ])
  })
})
