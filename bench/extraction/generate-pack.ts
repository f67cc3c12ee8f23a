import { writeZip } from '../../test/support/zip-writer.ts'
import { makeRandom } from '../search/random.ts'
import { writeModule } from './module.ts'

export interface GeneratedPack {
  name: string
  zip: Uint8Array
  /** Every Python file, all of them reached from `__init__.py`. */
  sources: string[]
  /** Bytes of them. */
  bytes: number
  /** Host nodes that it declares. */
  nodes: number
}

/** Packs of 2.9 MB have 288 files, popular ones of 119 KB ten. */
const FILE_BYTES = 11_000

/** A pack of so many bytes of Python, the same for a seed. Half of its modules are found by a loader. */
export const generatePack = (
  name: string,
  { bytes, seed }: { bytes: number; seed: number },
): GeneratedPack => {
  const random = makeRandom(seed)
  const count = Math.max(1, Math.round(bytes / FILE_BYTES))
  const share = Math.round((bytes - INIT_BYTES) / count)
  const files = new Map<string, string>()
  const imported: string[] = []
  let nodes = 0
  for (let at = 0; at < count; at++) {
    const module = `part_${at}`
    const made = writeModule(random, { name: module, bytes: share - ROUNDING })
    nodes += made.nodes
    if (at % 2 === 0) imported.push(module)
    files.set(at % 2 === 0 ? `${module}.py` : `nodes/${module}.py`, made.text)
  }
  if (count > 1) files.set('nodes/__init__.py', '')
  files.set('__init__.py', writeInit(imported, count > 1))
  const sources = [...files.values()]
  const size = sources.reduce((sum, text) => sum + Buffer.byteLength(text), 0)
  const zip = writeZip([...files].map(([name, data]) => ({ name, data, method: DEFLATE })))
  return { name, zip, sources, bytes: size, nodes }
}

const DEFLATE = 8
const INIT_BYTES = 900
/** A module ends with the class that takes it over its size: half of one on average. */
const ROUNDING = 1400

const writeInit = (modules: readonly string[], hasFolder: boolean): string => `import importlib
import os

WEB_DIRECTORY = "./web"
NODE_CLASS_MAPPINGS = {}
NODE_DISPLAY_NAME_MAPPINGS = {}

${modules
  .map(
    (module) => `from .${module} import NODE_CLASS_MAPPINGS as classes_of_${module}
NODE_CLASS_MAPPINGS.update(classes_of_${module})`,
  )
  .join('\n')}
${hasFolder ? LOADER : ''}
__all__ = ["NODE_CLASS_MAPPINGS", "NODE_DISPLAY_NAME_MAPPINGS", "WEB_DIRECTORY"]
`

const LOADER = `
folder = os.path.join(os.path.dirname(os.path.realpath(__file__)), "nodes")
for file in sorted(os.listdir(folder)):
    if not file.endswith(".py") or file.startswith("_"):
        continue
    module = importlib.import_module(f".nodes.{file[:-3]}", package=__name__)
    NODE_CLASS_MAPPINGS.update(getattr(module, "NODE_CLASS_MAPPINGS", {}))
    NODE_DISPLAY_NAME_MAPPINGS.update(getattr(module, "NODE_DISPLAY_NAME_MAPPINGS", {}))
`
