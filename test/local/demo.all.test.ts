import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'

import { codePath } from '../../src/local/root.ts'
import { makeCertificate } from '../support/certificate.ts'
import { useFolder } from '../support/folder.ts'
import { makeTaskQueue, temporalAddress, useDatabase, workflowBundle } from '../support/stack.ts'
import { startTemporalFrontend, type TemporalFrontend } from '../support/temporal-frontend.ts'

const COMMAND = pathToFileURL(codePath('src/local/demo-command.ts')).href
const PROGRAM = `
const { runDemoCommand } = await import(${JSON.stringify(COMMAND)})
process.exit(await runDemoCommand({ dataDir: process.argv[1], keep: false }))`

describe('the demonstration, with a Temporal of others behind TLS, a client certificate and an API key', () => {
  const folder = useFolder()
  const database = useDatabase()
  const server = makeCertificate(['127.0.0.1'])
  const client = makeCertificate(['worker'])
  let frontend: TemporalFrontend

  before(async () => {
    frontend = await startTemporalFrontend({
      target: temporalAddress(),
      certificate: server,
      clients: [client.cert],
      apiKey: 'secret-key',
    })
    for (const [name, text] of Object.entries({ ca: server.cert, ...client }))
      await writeFile(join(folder, name), text)
  })
  after(() => frontend?.close())

  const run = (env: NodeJS.ProcessEnv = {}) =>
    new Promise<{ code: unknown; printed: string }>((resolve) => {
      const args = ['--input-type=module', '--eval', PROGRAM, join(folder, 'data')]
      const settings = {
        PATH: process.env['PATH'],
        DATABASE_URL: database.url,
        OVERRIDE_DATABASE_TIMEOUT_MS: '60000',
        OVERRIDE_WORKFLOW_BUNDLE: workflowBundle(),
        TASK_QUEUE: makeTaskQueue('demo'),
        TEMPORAL_ADDRESS: frontend.address,
        TEMPORAL_API_KEY: 'secret-key',
        TEMPORAL_TLS_SERVER_CA_CERT_PATH: join(folder, 'ca'),
        TEMPORAL_TLS_CLIENT_CERT_PATH: join(folder, 'cert'),
        TEMPORAL_TLS_CLIENT_KEY_PATH: join(folder, 'key'),
      }
      execFile(process.execPath, args, { env: { ...settings, ...env } }, (error, out, errors) =>
        resolve({ code: error?.code ?? 0, printed: out + errors }),
      )
    })

  test('makes every job by that server, draws its workflows, and starts none of its own', async () => {
    const { code, printed } = await run()
    const [, done, all] = /(\d+) of (\d+) jobs succeeded\./.exec(printed) ?? []
    assert.ok(Number(all) > 10 && done === all && code === 0, printed)
    assert.match(printed, /└ /)
    assert.match(printed, /ten lines of Python.*\n\n {2}moire +COMPLETED /)
    assert.match(printed, /killed +processing \d+% .*\n  kill -9 \d+\n[^]*killed +success /)
    assert.doesNotMatch(printed, /^Temporal \d/m)
    assert.ok(frontend.calls.includes('StartWorkflowExecution'), frontend.calls.join())
    assert.ok(!printed.includes('secret-key'))
  })

  const WRONG: [what: string, env: NodeJS.ProcessEnv, sentence: RegExp][] = [
    [
      'another authority',
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: '', TEMPORAL_TLS_SERVER_CA_CERT_DATA: client.cert },
      /not signed by the authority in TEMPORAL_TLS_SERVER_CA_CERT_PATH/,
    ],
    ['another key', { TEMPORAL_API_KEY: 'another' }, /rejects the key in TEMPORAL_API_KEY/],
    [
      'no PEM',
      { TEMPORAL_TLS_SERVER_CA_CERT_PATH: import.meta.filename },
      /must be a certificate in PEM/,
    ],
  ]
  for (const [what, env, sentence] of WRONG)
    test(`says what is wrong: ${what}`, async () => {
      const { code, printed } = await run(env)
      assert.match(printed, sentence)
      assert.equal(code, 1)
    })
})
