import assert from 'node:assert/strict'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { listOf, makeClient } from '../support/client.ts'
import { startPythonEngine, type PythonEngine } from '../support/cog/python.ts'
import { makeFolder } from '../support/folder.ts'
import { base64 } from '../support/pictures.ts'
import { WITHOUT_PYTHON } from '../support/python.ts'
import { startService } from '../support/service.ts'
import { waitFor } from '../support/wait.ts'
import { ENGINE_SOON } from './calls.ts'
import { assertLedger } from './ledger.ts'

/** Leaves a file for each run, so that the test sees what runs and how often. */
const WORK = `
import struct
import time
import zlib
from pathlib import Path
from tempfile import mkdtemp
from uuid import uuid4

from kiln_engine import engine

RUNS = Path(__file__).parent / "runs"


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


@engine
def work(image: Path, number: int) -> Path:
    (RUNS / f"{number}-{uuid4().hex}").touch()
    time.sleep(0.3)
    picture = Path(mkdtemp(), "made.png")
    header = struct.pack(">IIBBBBB", 8, 8, 8, 0, 0, 0, 0)
    picture.write_bytes(
        b"\\x89PNG\\r\\n\\x1a\\n"
        + chunk(b"IHDR", header)
        + chunk(b"IDAT", zlib.compress(bytes(9) * 8))
        + chunk(b"IEND", b"")
    )
    return picture
`

const TASKS = 60
/** Kills of an engine and of the worker, each after some more runs have begun. */
const KILLS = 6

test(
  'each of many tasks ends once while two engines of Python and the worker are killed in turn',
  { skip: WITHOUT_PYTHON },
  async (context) => {
    const folder = await makeFolder(context, { 'work.py': WORK, 'runs/.keep': '' })
    const file = join(folder, 'work.py')
    const engines: PythonEngine[] = [
      await startPythonEngine(file, '--port', '0'),
      await startPythonEngine(file, '--port', '0'),
    ]
    context.after(() => Promise.all(engines.map((engine) => engine.kill())))
    const urls = engines.map(({ url }) => url)
    const service = await startService({
      roles: ['api', 'core'],
      env: { ...ENGINE_SOON, ENGINES_HTTP: `work=${urls.join(' ')}` },
    })
    context.after(() => service.stop())
    const client = makeClient(service.baseUrl, await service.token('alice'))
    await waitFor('it is a kind', async () =>
      listOf<{ name: string }>(await client.get('/templates'), 'templates').some(
        ({ name }) => name === 'work',
      ),
    )
    const image = await base64()
    const ids: string[] = []
    for (let number = 0; number < TASKS; number += 1) {
      const { body } = await client.create('/templates/work/tasks', { image, number })
      ids.push(body.data.task_id)
    }
    const countRuns = async (): Promise<number> => (await readdir(join(folder, 'runs'))).length
    for (let kill = 0; kill < KILLS; kill += 1) {
      const before = await countRuns()
      await waitFor('more runs have begun', async () => (await countRuns()) >= before + 3)
      if (kill % 2 === 1) {
        await service.entry('core').kill()
        await service.start('core')
      } else {
        const index = (kill / 2) % 2
        await engines[index]?.kill()
        const { port } = new URL(urls[index] ?? '')
        engines[index] = await startPythonEngine(file, '--port', port)
      }
    }
    const tasks = await assertLedger(service, ids)
    assert.deepEqual(
      tasks.filter(({ error_code: code }) => code !== null),
      [],
    )
    for (const { results } of tasks) assert.equal(results.length, 1)
    const runs = await readdir(join(folder, 'runs'))
    const made = new Set(runs.map((name) => name.split('-')[0]))
    assert.equal(made.size - Number(made.has('.keep')), TASKS)
    context.diagnostic(`${runs.length - 1} runs of ${TASKS} tasks in ${KILLS} kills`)
  },
)
