import type { Inspector } from '../../src/registry/inspector/inspector.ts'
import { openFileSource } from '../../packages/inspector/src/archive/source.ts'
import { inspect } from '../../packages/inspector/src/inspect.ts'
import type { Inspection } from '../../packages/inspector/src/inspection.ts'
import { makePythonParser } from '../../packages/inspector/src/python/parse.ts'
import {
  EXTRACTOR_VERSION,
  SCANNER,
  SCANNER_VERSION,
} from '../../packages/inspector/src/versions.ts'

/** Reads archives in this process: the same reading, without the process of its own that guards a worker. */
export const makeInspector = async (): Promise<Inspector> => {
  const parser = await makePythonParser()
  return {
    extractorVersion: EXTRACTOR_VERSION,
    scanner: SCANNER,
    scannerVersion: SCANNER_VERSION,
    async inspect({ path, nodeId, dependencies, signal }) {
      const found: Partial<Inspection> = {}
      const source = await openFileSource(path)
      try {
        await inspect({
          source,
          nodeId,
          dependencies,
          parser,
          now: () => performance.now(),
          onBegin: () => true,
          onSection: (part) => void Object.assign(found, part),
          ...(signal && { signal }),
        })
      } finally {
        await source.close()
      }
      return found as Inspection
    },
    close: () => Promise.resolve(),
  }
}
