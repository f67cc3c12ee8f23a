import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'

import { withDeathSignal } from '../../../src/local/child.ts'
import { findPort } from '../../../src/local/port.ts'
import { ROOT } from '../../../src/local/root.ts'
import { installPython } from '../../../tools/python.ts'
import { waitFor } from '../wait.ts'

const PREDICTOR = `
import shutil
import tempfile
import time
from typing import List, Optional

from cog import BasePredictor, Input, Path


class Predictor(BasePredictor):
    def predict(
        self,
        image: Path = Input(description="The picture."),
        masks: Optional[List[Path]] = Input(default=None),
        strength: float = Input(default=0.5, ge=0, le=1),
        hold: float = Input(default=0, ge=0, le=60),
    ) -> List[Path]:
        until = time.monotonic() + hold
        while time.monotonic() < until:
            print(" 50%|#####     | 1/2", flush=True)
            time.sleep(0.1)
        # cog removes the files of inputs, perhaps before it has read an output that is one.
        out = Path(tempfile.mkdtemp())
        files = enumerate([image, *(masks or [])])
        return [Path(shutil.copy(file, out / f"{at}.png")) for at, file in files]
`
const FILE = { type: 'string', format: 'uri' }
const SHARE = { type: 'number', minimum: 0, maximum: 1, default: 0.5 }
/** Stands in a container that `cog build` has made; the server itself does not read it from the code. */
const DOCUMENT = {
  openapi: '3.0.2',
  info: { title: 'Cog', version: '0.1.0' },
  paths: {},
  components: {
    schemas: {
      Input: {
        type: 'object',
        required: ['image'],
        properties: {
          image: { ...FILE, 'x-order': 0, description: 'The picture.' },
          masks: { type: 'array', items: FILE, nullable: true, 'x-order': 1 },
          strength: { ...SHARE, 'x-order': 2 },
          hold: { ...SHARE, maximum: 60, default: 0, 'x-order': 3 },
        },
      },
      Output: { type: 'array', items: FILE },
    },
  },
}

/** Installs cog; throws Skipped where that cannot be. Returns its folder of programs. */
export const installCog = (): Promise<string> =>
  installPython('cog', join(ROOT, 'test/support/cog/requirements.txt'))

/** Starts the server of the package cog, as a container of cog does, in a folder. */
export const startCogServer = async (bin: string, folder: string) => {
  await mkdir(join(folder, '.cog'), { recursive: true })
  await writeFile(join(folder, '.cog/openapi_schema.json'), JSON.stringify(DOCUMENT))
  await writeFile(join(folder, 'cog.yaml'), 'predict: "predict.py:Predictor"\n')
  await writeFile(join(folder, 'predict.py'), PREDICTOR)
  const port = await findPort()
  const [program, ...args] = withDeathSignal('SIGKILL', [
    join(bin, 'python'),
    '-m',
    'cog.server.http',
    '--host',
    '127.0.0.1',
  ])
  const child = spawn(program, args, {
    cwd: folder,
    env: {
      ...process.env,
      // It starts `python` once more, for the predictor.
      PATH: [bin, process.env['PATH']].join(delimiter),
      COG_PREDICT_TYPE_STUB: 'predict.py:Predictor',
      PORT: String(port),
      NO_PROXY: '*',
    },
    stdio: 'ignore',
  })
  const ended = once(child, 'exit')
  const url = `http://127.0.0.1:${port}`
  await waitFor('cog is ready', async () => {
    const response = await fetch(`${url}/health-check`).catch(() => undefined)
    return ((await response?.json()) as { status?: string } | undefined)?.status === 'READY'
  })
  return {
    url,
    async stop() {
      child.kill()
      await ended
    },
  }
}
