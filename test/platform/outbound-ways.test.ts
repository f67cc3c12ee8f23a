import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { ROOT } from '../../src/local/root.ts'

/** Code that opens connections to others. The linter keeps `fetch` out, and undici out of most areas. */
const OPENS = [
  /^import (?!type ).* from 'undici'/m,
  /^import (?!type ).*\b(get|request|Agent)\b.* from 'node:http'/m,
  /^import (?!type ).* from 'node:(https|http2|dgram)'/m,
  /^import (?!type ).*\bconnect\b.* from 'node:(net|tls)'/m,
  /^import (?!type ).* from '@(aws-sdk\/client-|opentelemetry\/exporter-)/m,
  /\bcreateRemoteJWKSet\(/,
  /\b(Native)?Connection\.(lazy|connect)\(/,
  /\bnew (WebSocket|EventSource)\(/,
]

/** All that call others past src/platform/outbound, and why OUTBOUND_PROXY still holds, or need not. */
const KNOWN: Record<string, string> = {
  'src/engines/comfyui/events.ts': 'a WebSocket over makeTrustedConnector',
  'src/identity/adapters/key-set.ts': 'jose over the guarded client',
  'src/platform/storage/s3-client.ts': 'the SDK over makeTrustedAgents',
  'src/platform/storage/s3.ts': 'commands of that client',
  'src/platform/adapters/certificate.ts': 'TLS on a connection that it is given',
  'src/platform/temporal/connection.ts': 'Temporal, called directly',
  'src/platform/temporal/temporal-advice.ts': 'Temporal, called directly',
  'src/platform/worker.ts': 'Temporal, called directly',
  'src/platform/temporal/sdk-metrics.ts': 'this process',
  'src/platform/process/tracing.ts': 'the collector, in one’s own network',
  'src/local/temporal.ts': 'the embedded stack, on this machine',
}

const listSources = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .map((path) => join(folder, path))
    .filter((path) => path.endsWith('.ts') && !path.startsWith('src/platform/outbound/'))

test('nothing calls others past the outbound area but what is known, so that a proxy is the only way out', () => {
  const found = ['src', 'activities', 'workflows'].flatMap(listSources).filter((path) => {
    const source = readFileSync(join(ROOT, path), 'utf8').replaceAll(
      /^import \{[^}]*\}/gm,
      (text) => text.replaceAll(/\s+/g, ' '),
    )
    return OPENS.some((way) => way.test(source))
  })
  assert.deepEqual(found.toSorted(), Object.keys(KNOWN).toSorted())
})
