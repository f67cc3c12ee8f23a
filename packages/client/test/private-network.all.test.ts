import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { Server } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { codePath } from '../../../src/local/root.ts'
import { PYTHON_CLIENT, writePythonClient } from '../../../tools/build-python.ts'
import { Skipped } from '../../../tools/python.ts'
import { makeCertificate } from '../../../test/support/certificate.ts'
import { makeFolder } from '../../../test/support/folder.ts'
import { listen, useReceiver } from '../../../test/support/network.ts'

const certificate = makeCertificate(['127.0.0.1'])
const service = useReceiver((_, response) => response.end('{"capped":false}'), certificate)

/** A proxy that opens tunnels, as those of companies do; `tunnels` are the hosts that it has led to. */
const startProxy = async () => {
  const tunnels: string[] = []
  const server: Server = createServer().on('connect', ({ url = '' }, socket) => {
    tunnels.push(url)
    const onward = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n')
      onward.pipe(socket).pipe(onward)
    })
    onward.on('error', () => socket.destroy())
    socket.on('error', () => onward.destroy())
  })
  const { port, close } = await listen(server)
  after(close)
  return { url: `http://127.0.0.1:${port}`, tunnels }
}

const bin = await writePythonClient().catch((error: unknown) => {
  if (error instanceof Skipped) return error
  throw error
})
const skip = bin instanceof Skipped ? bin.message : false

/** Programs that read something by each client, without a retry. */
const toProgram = (before: string): string[] => [
  '--input-type=module',
  '-e',
  `${before}
   import { makeKiln } from ${JSON.stringify(codePath('packages/client/src/index.ts'))}
   const kiln = makeKiln({ baseUrl: process.env.KILN_URL, token: 't', retry: { attempts: 1 } })
   console.log((await kiln.tasks.summary()).capped)`,
]
const PYTHON = [
  '-c',
  `import os
from kiln_client import Kiln
print(Kiln(os.environ["KILN_URL"], token="t", attempts=1).tasks.summary()["capped"])`,
]

const run = async (program: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> => {
  const own = { PYTHONPATH: join(PYTHON_CLIENT, 'src'), PYTHONDONTWRITEBYTECODE: '1' }
  const KILN_URL = `https://127.0.0.1:${service.port}`
  const options = { env: { PATH: process.env['PATH'], KILN_URL, ...own, ...env } }
  const ran = await promisify(execFile)(program, args, options).catch(
    (error: { stderr: string }) => ({ stdout: error.stderr }),
  )
  return ran.stdout.trim()
}

/** Lines of docs/client.md for a proxy in Node before 24. */
const DISPATCHER = `
  import { EnvHttpProxyAgent, setGlobalDispatcher } from 'undici'
  setGlobalDispatcher(new EnvHttpProxyAgent())`
const major = Number(process.versions.node.split('.')[0])

describe('in a network of its own', () => {
  const CLIENTS = [
    ['TypeScript', process.execPath, toProgram(''), 'NODE_EXTRA_CA_CERTS', false],
    ['Python', join(String(bin), 'python'), PYTHON, 'SSL_CERT_FILE', skip],
  ] as const
  for (const [name, program, args, variable, without] of CLIENTS)
    test(
      `the ${name} client trusts the authority of ${variable}`,
      { skip: without },
      async (context) => {
        const folder = await makeFolder(context, { 'authority.pem': certificate.cert })
        assert.match(await run(program, [...args], {}), /self[- ]signed|certificate/i)
        const trusting = { [variable]: join(folder, 'authority.pem') }
        assert.match(await run(program, [...args], trusting), /^false$/i)
      },
    )

  const WAYS = [
    ['TypeScript client by undici', process.execPath, toProgram(DISPATCHER), false],
    [
      'TypeScript client by NODE_USE_ENV_PROXY',
      process.execPath,
      toProgram(''),
      major < 24 && 'Node 24 or later has it',
    ],
    ['Python client', join(String(bin), 'python'), PYTHON, skip],
  ] as const
  for (const [name, program, args, without] of WAYS)
    test(
      `the ${name} goes through HTTPS_PROXY, unless NO_PROXY names the host`,
      { skip: without },
      async (context) => {
        const folder = await makeFolder(context, { 'authority.pem': certificate.cert })
        const path = join(folder, 'authority.pem')
        const { url, tunnels } = await startProxy()
        const env = {
          HTTPS_PROXY: url,
          NODE_USE_ENV_PROXY: '1',
          NODE_EXTRA_CA_CERTS: path,
          SSL_CERT_FILE: path,
        }
        assert.match(await run(program, [...args], env), /^false$/i)
        assert.deepEqual(tunnels, [`127.0.0.1:${service.port}`])
        assert.match(await run(program, [...args], { ...env, NO_PROXY: '127.0.0.1' }), /^false$/i)
        assert.equal(tunnels.length, 1)
      },
    )
})
