/**
 * Serves the fake ComfyUI of the tests, which renders the example templates, until Ctrl-C:
 * `node tools/run.mjs test/support/comfyui/serve.ts [port]`.
 */
import { once } from 'node:events'

import { startFakeComfy } from './fake.ts'

const port = Number(process.argv[2] ?? 8188)
const fake = await startFakeComfy({ port, argv: ['--disable-metadata'] })
process.stdout.write(`A fake ComfyUI listens on ${fake.url}\n`)
await Promise.race(['SIGINT', 'SIGTERM'].map((signal) => once(process, signal)))
await fake.close()
process.exit()
