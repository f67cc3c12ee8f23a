import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'

import { operateWith } from '../faults/operate.ts'
import { makeCertificate } from '../support/certificate.ts'
import { UPSCALE, expectStatus } from '../support/client.ts'
import { startForwardProxy, type ForwardProxy } from '../support/forward-proxy.ts'
import { base64 } from '../support/pictures.ts'
import { startWebhookReceiver, type WebhookReceiver } from '../support/receiver.ts'
import { useService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'

const PASSWORD = 'pass/word of a proxy'
/** The forms in which it is set and sent. */
const SECRETS = [
  PASSWORD,
  encodeURIComponent(PASSWORD),
  Buffer.from(`kiln:${PASSWORD}`).toString('base64'),
]

/** Nobody listens at that port. */
const DEAD = 'http://127.0.0.1:1'
const ELSEWHERE = Object.fromEntries(
  ['http_proxy', 'https_proxy', 'all_proxy', 'grpc_proxy'].flatMap((name) => [
    [name, DEAD],
    [name.toUpperCase(), DEAD],
  ]),
)

const authority = join(tmpdir(), `kiln-authority-${process.pid}.pem`)
let receiver: WebhookReceiver
let proxy: ForwardProxy
const service = useService(async () => {
  const certificate = makeCertificate(['hooks.example'])
  receiver = await startWebhookReceiver({ certificate })
  proxy = await startForwardProxy(() => receiver.port)
  await writeFile(authority, certificate.cert)
  return {
    roles: ['api', 'core'],
    env: {
      ...ELSEWHERE,
      NODE_EXTRA_CA_CERTS: authority,
      OUTBOUND_PROXY: `http://kiln:${encodeURIComponent(PASSWORD)}@127.0.0.1:${proxy.port}`,
      OUTBOUND_PROXY_RESOLVES: 'true',
    },
  }
})
const alice = service.client('alice')
after(async () => {
  await Promise.all([receiver.stop(), proxy.close(), rm(authority, { force: true })])
})

describe('a service whose only way out is OUTBOUND_PROXY', () => {
  test('delivers webhooks by it, while HTTPS_PROXY and the like lead nowhere', async () => {
    const webhook_url = 'https://hooks.example/end'
    const id = await alice.createImage({ image: await base64(), webhook_url })
    expectStatus(await alice.post(`${UPSCALE}/${id}/cancel`, {}), 200)
    const [request] = await waitFor('the webhook has come', () => {
      const requests = receiver.of('/end')
      return requests.length > 0 && requests
    })
    assert.equal(request?.headers.host, 'hooks.example')
    assert.ok(proxy.asked.includes('hooks.example:443'))
  })

  test('is ready, for Temporal is called without any proxy', async () => {
    await waitFor('ready', async () => {
      const { body } = await alice.get('/ready')
      return (body as unknown as { checks: { temporal: string } }).checks.temporal === 'ok'
    })
    assert.ok(!proxy.asked.some((to) => to.endsWith(':7233')))
  })

  test('warns at its start that the proxy resolves, and never shows the password', () => {
    for (const role of ['api', 'core'] as const) {
      const log = service.entry(role).log.join('\n')
      assert.match(log, /OUTBOUND_PROXY_RESOLVES is true: only the proxy can keep names/)
      for (const secret of SECRETS) assert.ok(!log.includes(secret), `${role} shows ${secret}`)
    }
  })

  test('has a doctor that says why there is no way out, and what lets it through', async () => {
    const examine = async (status: number, env: NodeJS.ProcessEnv = {}): Promise<string> => {
      proxy.script(() => status)
      const { output } = await operateWith({ ...service.settings, ...env }, 'doctor')
      for (const secret of SECRETS) assert.ok(!output.includes(secret), output)
      return output
    }
    assert.match(await examine(200), /^ok +way out +http:\/\/127\.0\.0\.1:\d+ lets .* through$/m)
    assert.match(
      await examine(407),
      /^ERROR +way out +OUTBOUND_PROXY http.* with status 407: correct user and password in the setting$/m,
    )
    const away = await examine(200, { OUTBOUND_PROXY: `http://kiln:${SECRETS[1]}@127.0.0.1:1` })
    assert.match(away, /^ERROR +way out +OUTBOUND_PROXY http:\/\/127\.0\.0\.1:1 does not respond/m)
    assert.match(away, /^WARN +settings +OUTBOUND_PROXY_RESOLVES is true/m)
    assert.match(away, /^ok +temporal /m)
  })
})
