import assert from 'node:assert/strict'
import { describe, test } from 'node:test'

import type { Files } from '../../entries.ts'
import { extract, namesOf } from '../../nodes/extract-pack.ts'

const START = `class Cup: RETURN_TYPES = ("IMAGE",)
NODE_CLASS_MAPPINGS = {}
def add(name):
    NODE_CLASS_MAPPINGS[name] = Cup
    return name
`

const CASES: [title: string, source: string | Files, names: string[]][] = [
  [
    'a pool maps',
    `from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(max_workers=2) as pool: pool.map(add, ["A", "B"])
list(ThreadPoolExecutor().map(lambda a, b: add(a + b), "CD", "12"))`,
    ['A', 'B', 'C1', 'D2'],
  ],
  [
    'the folders of a pack go through a pool',
    {
      '__init__.py': `${START}from concurrent.futures import ThreadPoolExecutor
import json, os
HERE = os.path.dirname(os.path.realpath(__file__))
off = set(json.load(open(os.path.join(HERE, "off.json"))))
with ThreadPoolExecutor() as pool:
    pool.map(lambda name: name in off or add(name), [f for f in os.listdir(HERE) if f.endswith("Node")])`,
      'off.json': '["bNode"]',
      'aNode/x.txt': '',
      'bNode/x.txt': '',
      'cNode/x.txt': '',
    },
    ['aNode', 'cNode'],
  ],
  [
    'what was submitted has a result, in any order of asking',
    `from concurrent import futures as f
import concurrent.futures
pool = f.ThreadPoolExecutor()
futures = {pool.submit(add, name): name for name in ("A", "B")}
for future in concurrent.futures.as_completed(futures): add(future.result() + futures[future].lower())
pool.shutdown(wait=True)`,
    ['A', 'B', 'Aa', 'Bb'],
  ],
  [
    'an exception waits in the future',
    `from concurrent.futures import ThreadPoolExecutor
def fail(name): raise ValueError(name)
futures = [ThreadPoolExecutor().submit(fail, "A"), ThreadPoolExecutor().submit(add, "B")]
for future in futures:
    try: add(future.result() + "2")
    except ValueError as error: add(str(error) + "-failed")`,
    ['B', 'A-failed', 'B2'],
  ],
  [
    'threads run when they start, joined or not',
    `import threading
threads = [threading.Thread(target=add, args=(name,)) for name in ("A", "B")]
for thread in threads: thread.start()
for thread in threads: thread.join()
class Loader(threading.Thread):
    def __init__(self, name):
        super().__init__()
        self.what = name
    def run(self): add(self.what)
Loader("C").start()
threading.Thread(target=add, kwargs={"name": "D"}).start()
def fail(): raise ValueError()
threading.Thread(target=fail).start()
threading.Thread(target=add, args=("never",))`,
    ['A', 'B', 'C', 'D'],
  ],
  [
    'asyncio',
    `import asyncio, threading
async def make(name): return add(name)
async def main():
    task = asyncio.create_task(make("A"))
    add(await task + "1")
    for name in await asyncio.gather(make("B"), task): add(name + "2")
    for future in asyncio.as_completed([make("E")]): add(await future + "1")
    async with asyncio.TaskGroup() as group: task = group.create_task(make("F"))
    add(task.result() + "1")
    return await make("H")
async def bad(): raise ValueError(add("J"))
async def both(): return await asyncio.gather(bad(), make("K"), return_exceptions=True)
def work():
    add(asyncio.run(main()) + "1")
    loop = asyncio.new_event_loop()
    add(loop.run_until_complete(asyncio.gather(make("I")))[0] + "1")
    for result in asyncio.run(both()): add(str(result) + "1")
make("never")
thread = threading.Thread(target=work); thread.start(); thread.join()`,
    'A A1 B B2 A2 E E1 F F1 H H1 I I1 J J1 K K1'.split(' '),
  ],
]

describe('what runs beside the import', () => {
  for (const [title, source, names] of CASES)
    test(`has run: ${title}`, () => {
      const section = extract(typeof source === 'string' ? START + source : source)
      assert.deepEqual(namesOf(section).toSorted(), names.toSorted())
      assert.deepEqual(
        section.nodes.filter(({ dynamic }) => dynamic.length > 0),
        [],
      )
      assert.equal(section.partial, false)
    })

  const unsure: [title: string, source: string][] = [
    ['a daemon', 'threading.Thread(target=add, args=("A",), daemon=True).start()'],
    [
      'a daemon that never ends',
      `def watch():
    add("A")
    while True: time.sleep(1)
thread = threading.Thread(target=watch)
thread.daemon = True
thread.start()`,
    ],
  ]
  unsure.push([
    'a thread that sleeps',
    'def slow(): time.sleep(9); add("A")\nthreading.Thread(target=slow).start()',
  ])
  for (const [title, source] of unsure)
    test(`may not have run when the host looks: ${title}`, () => {
      const section = extract(`${START}import threading, time\n${source}`)
      assert.deepEqual(namesOf(section), ['A'])
      assert.deepEqual(section.nodes[0]?.dynamic, ['host_node_name'])
      assert.equal(section.partial, false)
    })

  const unknown = [
    'from concurrent.futures import ProcessPoolExecutor\nProcessPoolExecutor().submit(add, "A")',
    'import threading\nthreading.Timer(5, add, ["A"]).start()',
    'import asyncio\nasyncio.to_thread(add, "A")',
    'import asyncio\nasyncio.get_event_loop().run_in_executor(None, add, "A")',
    'from concurrent.futures import ThreadPoolExecutor\nThreadPoolExecutor().submit(str, 1).add_done_callback(add)',
  ]
  for (const source of unknown)
    test(`is partial where it is not followed: ${source.split('\n')[1]}`, () => {
      assert.equal(extract(`${START}${source}`).partial, true)
    })

  test('has run where a daemon is joined', () => {
    const section = extract(`${START}import threading
thread = threading.Thread(target=add, args=("A",), daemon=True)
thread.start(); thread.join()`)
    assert.deepEqual(section.nodes[0]?.dynamic, [])
  })

  const inHost: [title: string, source: string, names: string[]][] = [
    ['cannot be run', 'asyncio.run(main())', []],
    ['cannot be run by another loop', 'asyncio.new_event_loop().run_until_complete(main())', []],
    ['can be run where it is allowed', 'import nest_asyncio\nasyncio.run(main())', ['A', 'B']],
    ['comes too late as a task', 'asyncio.get_running_loop().create_task(main())', ['B']],
    ['may be run by a library', 'import helper\nhelper.run(main())', ['A', 'B']],
    [
      'is run in a thread where it is handled',
      `try: asyncio.run(main())
except RuntimeError:
    thread = threading.Thread(target=asyncio.run, args=(main(),)); thread.start(); thread.join()`,
      ['A', 'B'],
    ],
  ]
  for (const [title, source, names] of inHost)
    test(`within the loop of the host a coroutine ${title}`, () => {
      const section = extract(
        `${START}import asyncio, threading\nasync def main(): add("A")\n${source}\nadd("B")`,
      )
      assert.deepEqual(namesOf(section).toSorted(), names)
      assert.equal(section.reason, names.length > 0 ? undefined : 'import_raised')
    })

  test('has unknown names where a pool maps over what is unknown', () => {
    const section = extract(`${START}import helper
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor() as pool: pool.map(add, helper.names())`)
    assert.deepEqual([section.status, section.reason], ['failed', 'mapping_unknown'])
  })

  test('is a list of V3 classes that parts of an extension give', () => {
    const section = extract(`import asyncio
from comfy_api.latest import ComfyExtension, io
def make(name):
    class Node(io.ComfyNode):
        @classmethod
        def define_schema(cls): return io.Schema(node_id=name, inputs=[], outputs=[])
        @classmethod
        def execute(cls): pass
    class Part(ComfyExtension):
        async def get_node_list(self): return [Node]
    return Part
class Whole(ComfyExtension):
    async def get_node_list(self):
        lists = await asyncio.gather(*(part().get_node_list() for part in (make("A"), make("B"))))
        return [node for nodes in lists for node in nodes]
async def comfy_entrypoint(): return Whole()`)
    assert.deepEqual(namesOf(section), ['A', 'B'])
    assert.deepEqual([section.how, section.partial], ['v3', false])
  })
})
