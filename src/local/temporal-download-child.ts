/** Downloads the program with the SDK's own code: `<folder> <version>`; the reason of a failure goes to standard error. */
import { Runtime } from '@temporalio/worker'

const [downloadDir = '', version = ''] = process.argv.slice(2)

try {
  const runtime = Runtime.instance()
  const server = await runtime.createEphemeralServer({
    type: 'dev-server',
    exe: {
      type: 'cached-download',
      downloadDir,
      version,
      ttl: 0,
      sdkName: 'sdk-typescript',
      sdkVersion: '1.24.0',
    },
    namespace: 'default',
    ip: '127.0.0.1',
    port: null,
    ui: false,
    uiPort: null,
    dbFilename: null,
    log: { format: 'pretty', level: 'error' },
    extraArgs: [],
  })
  await runtime.shutdownEphemeralServer(server)
  process.exit(0)
} catch (error) {
  process.stderr.write(error instanceof Error ? error.message : String(error))
  process.exit(1)
}
